// Package threads keeps threads, runs and messages: the data of one agent server.
//
// Every method of a Store is one transaction, durable when it returns. Each message is stored with the run that wrote
// it, so that deleting a run deletes what it wrote.
//
// Two decisions are made inside of a transaction, so that no other write can come between:
//
//   - Whether a run may still write. A run that was deleted, was interrupted or has ended gets ErrGone.
//   - What becomes of the unfinished runs of a thread when a new run arrives: the Strategy decides, and BeginRun carries
//     out its Plan and adds the new run.
//
// Bolt is the only implementation. Callers take the interface, so that a layer can be put around it.
//
// The package knows nothing of HTTP, users or scripts: who may see a thread and what a run does are decided above it.
package threads
