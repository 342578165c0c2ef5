// Package features has the specification as Gherkin, one Rule per requirement, and the [Catalogue] that is parsed from
// it.
//
// The features are the only list of requirements. Everything that enumerates them (the list of the command, the reports,
// the self-test) reads the catalogue, and REQUIREMENTS.md is generated from it. Package steps defines the steps.
package features
