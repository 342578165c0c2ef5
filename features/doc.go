// Package features has the specification as Gherkin, one Rule per requirement, and the [Catalogue] that is parsed from
// it.
//
// The features are the only list of requirements. Everything that enumerates them (the list of the command, the reports,
// the self-test) reads the catalogue, and REQUIREMENTS.md is generated from it. Package steps defines the steps.
//
// Tags declare what a scenario needs and does at the target ([Terms]). The plan of a test run, doctor, --read-only,
// max_deployments and skips read nothing else, and a scenario that creates more than its tags declare ends as an
// error of the suite.
//
// The tag @after:ID states that the failure of a requirement explains the failure of this one, which is then
// reported below its cause. It is used only if one fault makes both fail. The command prove --whole looks for such a
// fault. What a scenario needs before it can act is a precondition instead, which blocks it.
//
// A target can claim capabilities with the key supports ([Claims]). Every claim includes the core of its profile, so
// a claim without the core cannot be written.
package features
