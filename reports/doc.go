// Package reports is the model of a result: all that a run learned about a target, in one value.
//
// The [Result] is what the console, every file and the exit code are derived from. The package knows neither HTTP clients
// nor Gherkin nor the formats of reports: steps fills the result, and the exporters show it.
//
// While a run goes on, its exchanges go into a [Recorder]. At its end,
// [Result.RenumberExchanges] makes their ids independent of which scenario was quicker, [Tally] counts, [Conclude] derives
// the verdict, and [Result.WriteJSON] writes result.json, whose JSON Schema is [ResultSchema]. [ReadFile] reads it again.
//
// The other packages build on the model, never the other way round:
//
//	overview    what several exporters show: groups by cause, headline, distance, words
//	console     the result for a person in a terminal
//	html        one page for people: from a failure to its cause
//	markdown    a summary for the page of a CI job or a pull request
//	junit       for CI systems: red exactly when the verdict is not conformant
//	cucumber    for tools that read Cucumber JSON
//	har         the exchanges, for browsers and proxies
//	badge       a picture for a README
//	export      writes all of these into a folder
//	baseline    known failures
//	compare     several results side by side
//	proof       the result of agentconform prove
//	safe        makes text of the target harmless in each format
//
// Text that comes from the target may be hostile: every exporter passes it through package safe, and bounds it.
package reports
