// Package outcome says how a step of a scenario ended when it did not just pass: it observed a violation, it was blocked,
// it saw nothing that could have shown a violation, or it was skipped. Each outcome carries a reason for people and its
// cause as data; nothing decides anything by the text of a reason.
//
// It knows neither Gherkin nor the two halves of the interface.
package outcome
