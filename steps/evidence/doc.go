// Package evidence keeps what a run has seen: every exchange, what the contract says against it, which parts of
// the interface were touched, and what was created at the target.
//
// It collects and answers questions; it gives no verdicts. Contract violations are collected by operation, status,
// place and keyword, so that one fault of the target is one thing to report however many scenarios met it.
package evidence
