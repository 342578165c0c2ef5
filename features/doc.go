// Package features has the specification as Gherkin, one Rule for each requirement, and the [Catalogue] that is parsed
// from it. Start with [Catalogue].
//
// The features are the only list of requirements. All code that enumerates them (the list of the command, the reports,
// the self-test) reads the catalogue, and REQUIREMENTS.md is generated from it. Package steps defines the steps.
//
// Tags declare what a scenario needs and does at the target ([Terms]). The plan of a test run, doctor, --read-only,
// max_deployments and skips depend only on these tags. A scenario that creates more than its tags declare ends as an
// error of the suite.
//
// The tag @after:ID states that the failure of requirement ID explains the failure of this one, which reports then show
// below its cause. Use it only if one fault makes both fail. The command prove --whole looks for such a fault. If a
// scenario needs something before it can act, use a precondition instead, which blocks the scenario.
//
// A target can claim capabilities with the key supports ([Claims]). Every claim includes the core of its profile, so it
// is impossible to write a claim without the core.
package features
