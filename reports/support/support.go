// Package support writes the results of a test run for the capabilities: support.json, for tables of several
// implementations, and a badge for each capability in the format of the endpoint of shields.io. Start with [Write].
package support

import (
	"io"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// schema is the name and version of the format of support.json.
const schema = "agentconform.support/v1"

// maxName is the maximum length in characters of the name and of the version of an implementation.
const maxName = 40

type document struct {
	Schema         string             `json:"schema"`
	Implementation string             `json:"implementation,omitempty"`
	Version        string             `json:"version,omitempty"` // version of the implementation
	Suite          string             `json:"suite"`             // its version
	Set            string             `json:"set,omitempty"`     // version of the requirement set that counts
	At             time.Time          `json:"at"`
	Verdict        reports.Conclusion `json:"verdict"`
	Scope          reports.Scope      `json:"scope"`
	Capabilities   []capability       `json:"capabilities"`
}

// capability has the word for the result, and the number of requirements by word.
type capability struct {
	Name         string         `json:"name"`
	Result       overview.Class `json:"result"`
	Passed       int            `json:"passed,omitempty"`
	Failed       int            `json:"failed,omitempty"`
	CouldNotTell int            `json:"could_not_tell,omitempty"`
	NotTested    int            `json:"not_tested,omitempty"`
}

// Write writes support.json. Errors are those of w.
func Write(w io.Writer, r *reports.Result) error {
	implementation := r.Target.Implementation
	doc := document{Schema: schema, Implementation: safe.Ellipsis(implementation.Name, maxName),
		Version: safe.Ellipsis(implementation.Version, maxName), Suite: r.Suite.Version, Set: r.Suite.Set,
		At: r.Run.StartedAt, Verdict: r.Verdict, Scope: r.Scope, Capabilities: []capability{}}
	for _, s := range overview.Of(r).Support() {
		doc.Capabilities = append(doc.Capabilities, capability{Name: s.Name, Result: s.Class, Passed: s.Numbers[overview.Passed],
			Failed: s.Numbers[overview.Failed], CouldNotTell: s.Numbers[overview.CouldNotTell], NotTested: s.Numbers[overview.NotTested]})
	}
	return reports.WriteEncoded(w, doc, "")
}

// colors are those of shields.io.
var colors = map[overview.Class]string{overview.Passed: "brightgreen", overview.Failed: "red", overview.CouldNotTell: "yellow",
	overview.NotTested: "lightgrey"}

// WriteBadge writes the badge of a capability: "paging | passed 8/8". Errors are those of w.
func WriteBadge(w io.Writer, s overview.Support) error {
	message := string(s.Class)
	if s.Tested() > 0 {
		message += " " + s.Share()
	}
	return reports.WriteEncoded(w, struct {
		SchemaVersion int    `json:"schemaVersion"`
		Label         string `json:"label"`
		Message       string `json:"message"`
		Color         string `json:"color"`
	}{1, s.Name, message, colors[s.Class]}, "")
}
