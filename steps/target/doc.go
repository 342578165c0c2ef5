// Package target is what is known of the server under test, as one value: its configuration, the client that speaks to it,
// the evidence of what it answered, the ledger of what was created there, and the names that the run uses. Runs, doctor,
// replay and clean all use it whole.
//
// It makes requests and knows who sends them (sections 4 and 5 of the interface); what is asked in which order is for
// packages plane and agent.
package target
