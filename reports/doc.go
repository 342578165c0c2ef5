// Package reports holds the one result object of a run and the faces that show it.
//
// Everything a run learns ends in a [Result]; the files, the console and the exit code are derived from it and
// from nothing else. The package knows neither HTTP clients nor Gherkin: steps fills the result, reports shows it.
package reports
