// Package steps says what the sentences of the features mean: it runs them against a target and gives the verdicts.
//
// The way of a run: [Run] selects scenarios from the catalogue and hands them to godog, which executes their
// sentences; a sentence's definition acts on the [World] of its scenario, which speaks to the target through one
// client; what a definition returns (nothing, or an outcome: violated, blocked, inconclusive, skipped) becomes the
// verdict. godog only executes: verdicts and reasons are kept here, since to godog a skip is a pass.
//
// A definition follows its keyword. Given brings a precondition about, and when it cannot the scenario is blocked;
// When acts; Then judges. Definitions stand in one file for each subject and are listed at its top.
package steps
