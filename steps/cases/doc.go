// Package cases derives combinations of values by rule, always the same and in the same order, so that no combination that
// the interface implies depends on somebody having thought of it.
//
// It knows neither HTTP nor Gherkin.
package cases
