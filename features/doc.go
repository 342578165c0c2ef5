// Package features holds the specification as Gherkin: what a conforming target does, one Rule for each
// requirement, and the catalogue that is read from it.
//
// The features are the only list of requirements. Everything that enumerates them (the command's list, the
// reports, the proof) reads the [Catalogue]; nothing repeats it, and REQUIREMENTS.md is generated from it. What the
// sentences mean is not here but in package steps.
package features
