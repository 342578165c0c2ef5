// Package agentserver is the reference's agent server: threads, runs and their state over HTTP, for the graphs of one
// deployment (interface, sections 1, 2, 4 "Agent server" and 5 "Agent server custom authentication").
//
// # Parts
//
//   - An App is what a source defines: its graphs, and its authentication handler if it has one. Load makes it from the
//     files of a source; it is immutable, and several servers may share it.
//   - A Server serves an App over HTTP. Swap gives it another App, the next revision: threads stay, and runs that are
//     in progress finish with the App they began with.
//   - The store (Store, BoltStore) keeps threads, runs and messages, each message with the run that wrote it. What a
//     strategy decides about the unfinished runs of a thread happens in the transaction that adds the new run.
//   - The engine runs scripts: one run of a thread at a time, in the order of their creation.
//   - Authenticator and Authorizer say who calls and what they may see.
//
// # Rollback
//
// A run's right to write is checked by the store, in the transaction that writes: a run that was deleted or interrupted
// cannot write any more, whatever its script is doing at that moment. So rollback needs no handshake with the script.
// One transaction deletes the unfinished runs and every message they wrote and adds the new run; afterwards the
// scripts are cancelled, and who waits for them in join is released. A run that has ended by then is none of
// rollback's business: it stays, with its messages.
//
// # What it is not
//
// It does not know the control plane: how a source is fetched and where the server is reachable is decided there.
package agentserver
