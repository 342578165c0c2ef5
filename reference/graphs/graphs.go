package graphs

import "embed"

// The folders of FS, each of them a source.
const (
	Conformance     = "conformance"      // agent.json, and alternative.json with the same graphs
	ConformanceNext = "conformance_next" // what differs from it in the next revision: it answers with another prefix
	Broken          = "broken"           // a syntax error in its graph
)

// Graph is the name of the conformance graph in the configuration files.
const Graph = "conformance"

// FS holds the sources.
//
//go:embed conformance conformance_next broken
var FS embed.FS
