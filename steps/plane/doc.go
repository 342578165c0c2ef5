// Package plane speaks with a control plane, without Gherkin: it creates deployments, updates them, polls their revisions
// until they settle, and reads lists page by page (sections 1 to 4 of the interface). It keeps the deployments that
// scenarios share, and what the run has learned about how this control plane behaves.
//
// What it cannot bring about is an error, mostly an *outcome.Outcome; the sentences say what that means for a verdict.
package plane
