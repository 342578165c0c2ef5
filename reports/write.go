package reports

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/agentconform/agentconform/reports/safe"
)

// elsewhere stands for the exchanges of a result while all else is encoded.
type elsewhere struct{ Exchanges }

// inFile is what stands for them then: no text of a target can hold it with these quotation marks.
const inFile = `"exchanges": "@"`

// MarshalJSON implements json.Marshaler.
func (elsewhere) MarshalJSON() ([]byte, error) { return []byte(`"@"`), nil }

// WriteJSON writes r as a result file: the content of result.json. Exchanges are one a line; all else is indented. What
// could do harm on a terminal is written as \u escapes.
func (r *Result) WriteJSON(w io.Writer) error {
	n := normalised(r)
	all := n.Exchanges
	n.Schema, n.Exchanges = Schema, elsewhere{}
	doc, err := encoded(n, "  ")
	if err != nil {
		return fmt.Errorf("encoding the result: %w", err)
	}
	before, after, _ := bytes.Cut(doc, []byte(inFile))
	out := bufio.NewWriterSize(w, 64<<10) // what it returns of an error, Flush returns too
	_, _ = fmt.Fprintf(out, `%s"exchanges": [`, before)
	for x := range all.All() {
		line, err := encoded(normalisedExchange(x), "")
		if err != nil {
			return fmt.Errorf("encoding exchange %d: %w", x.ID, err)
		}
		separator := ","
		if x.ID == 1 {
			separator = ""
		}
		_, _ = fmt.Fprintf(out, "%s\n    %s", separator, bytes.TrimSpace(line))
	}
	if all.Len() > 0 {
		_, _ = out.WriteString("\n  ")
	}
	_, _ = fmt.Fprintf(out, "]%s", after)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the result file: %w", err)
	}
	return nil
}

// encoded is JSON in which <, > and & stay readable.
func encoded(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(value)
	return safe.JSON(b.Bytes()), err
}

// normalised returns a copy of r in which no list and no map is nil: a reader of the file sees [] and {}, never
// null. The lists of r itself are not touched.
func normalised(r *Result) Result {
	n := *r
	if n.Exchanges == nil {
		n.Exchanges = NewMemory()
	}
	if n.Counts.Requirements == nil {
		n.Counts.Requirements = zeroes()
	}
	if n.Counts.Scenarios == nil {
		n.Counts.Scenarios = zeroes()
	}
	n.Requirements = list(slices.Clone(n.Requirements))
	for i, q := range n.Requirements {
		n.Requirements[i].Reason = safe.Cut(q.Reason, maxHeader)
		n.Requirements[i].Skip, n.Requirements[i].BlockedBy = boundedCause(q.Skip, q.BlockedBy)
		scenarios := list(slices.Clone(q.Scenarios))
		for j := range scenarios {
			s := &scenarios[j]
			s.Reason = safe.Cut(s.Reason, maxHeader)
			s.Skip, s.BlockedBy = boundedCause(s.Skip, s.BlockedBy)
			scenarios[j].Exchanges = list(scenarios[j].Exchanges)
		}
		n.Requirements[i].Scenarios = scenarios
	}
	n.Findings, n.Timeline, n.Ledger = list(slices.Clone(n.Findings)), list(n.Timeline), list(slices.Clone(n.Ledger))
	for i, f := range n.Findings { // they quote the target, which may have sent megabytes
		n.Findings[i].Expected, n.Findings[i].Actual = safe.Cut(f.Expected, MaxBody), safe.Cut(f.Actual, MaxBody)
		n.Findings[i].Summary, n.Findings[i].Curl = safe.Cut(f.Summary, maxHeader), safe.Cut(f.Curl, MaxBody)
	}
	n.Notes = slices.Clone(n.Notes)
	for i, note := range n.Notes {
		n.Notes[i].Text, n.Notes[i].Pointer = safe.Cut(note.Text, maxHeader), safe.Cut(note.Pointer, maxHeader)
	}
	for i, e := range n.Ledger {
		n.Ledger[i].Reason = safe.Cut(e.Reason, maxHeader)
	}
	n.Coverage.Operations, n.Coverage.Statuses = list(n.Coverage.Operations), list(n.Coverage.Statuses)
	n.Coverage.Parameters = list(slices.Clone(n.Coverage.Parameters))
	for i := range n.Coverage.Parameters {
		n.Coverage.Parameters[i].Values = list(n.Coverage.Parameters[i].Values)
	}
	n.Coverage.Enums = list(slices.Clone(n.Coverage.Enums))
	for i := range n.Coverage.Enums {
		n.Coverage.Enums[i].Seen = list(n.Coverage.Enums[i].Seen)
		n.Coverage.Enums[i].Unseen = list(n.Coverage.Enums[i].Unseen)
	}
	return n
}

func normalisedExchange(x Exchange) Exchange {
	if x.Request.Headers == nil {
		x.Request.Headers = map[string][]string{}
	}
	if x.Response.Headers == nil {
		x.Response.Headers = map[string][]string{}
	}
	return x
}

func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
