// Package reports holds the one result object of a run and the faces that show it.
//
// Everything a run learns ends in a [Result]; the files, the console and the exit code are derived from it and
// from nothing else. The package knows neither HTTP clients nor Gherkin: steps fills the result, reports shows it.
//
// While a run goes on, its exchanges go into a [Recorder]: a [Journal] on disk, or [Memory]. At its end,
// [Result.RenumberExchanges] makes their ids independent of which scenario was quicker, [Tally] counts,
// [Console] tells the person who waits, and [Write] writes the files:
//
//	result.json    everything, after the JSON Schema of ResultSchema; read again by ReadFile
//	index.html     one page for people: from a failure to its cause
//	junit.xml      for CI systems: red exactly when the verdict is not conformant
//	summary.md     for the page of a CI job or a pull request
//	cucumber.json  for the reporters of the Cucumber world
//	result.har     the exchanges, for browsers and proxies
//	badge.svg      for a README
//
// Text that comes from the target is hostile until proven otherwise: every face passes it through package safe, and
// bounds it. Known failures are the business of package baseline, several results that of package compare.
package reports
