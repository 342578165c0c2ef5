// Package agent speaks with agent servers, without Gherkin: it creates threads, starts runs of the conformance graph, joins
// them, reads states, lists threads, and has runs rolled back (sections 3 to 5 of the interface). It keeps what
// scenarios share, and what the run has learned about how fast these servers are.
//
// What it cannot bring about is an error, mostly an *outcome.Outcome; the sentences say what that means for a verdict.
package agent
