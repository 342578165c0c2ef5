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

// WriteJSON writes r as a result file: the content of result.json. Exchanges are streamed, one a line; all else is
// indented. What could do harm on a terminal is written as \u escapes.
func (r *Result) WriteJSON(w io.Writer) error {
	out := &objectWriter{w: bufio.NewWriterSize(w, 64<<10)}
	n := normalised(r)
	out.field("schema", Schema)
	out.field("suite", n.Suite)
	out.field("target", n.Target)
	out.field("run", n.Run)
	out.field("verdict", n.Verdict)
	if n.Scope != "" {
		out.field("scope", n.Scope)
	}
	optional(out, "not_judged", n.NotJudged)
	optional(out, "unseen", n.Unseen)
	if n.Headline != "" {
		out.field("headline", n.Headline)
	}
	out.field("counts", n.Counts)
	out.field("requirements", n.Requirements)
	out.field("findings", n.Findings)
	out.field("coverage", n.Coverage)
	out.field("timeline", n.Timeline)
	out.exchanges(n.Exchanges)
	out.field("ledger", n.Ledger)
	if len(n.Notes) > 0 {
		out.field("notes", n.Notes)
	}
	if n.Baseline != nil {
		out.field("baseline", n.Baseline)
	}
	return out.close()
}

// objectWriter writes the members of one JSON object. The first error ends it; close reports that.
type objectWriter struct {
	w      *bufio.Writer
	fields int
	err    error
}

func (o *objectWriter) text(s string) {
	if o.err == nil {
		_, o.err = o.w.WriteString(s)
	}
}

func (o *objectWriter) key(name string) {
	if o.fields == 0 {
		o.text("{")
	} else {
		o.text(",")
	}
	o.fields++
	o.text("\n  \"" + name + "\": ")
}

func (o *objectWriter) field(name string, value any) {
	o.key(name)
	if o.err != nil {
		return
	}
	doc, err := encodeIndented(value)
	if err != nil {
		o.err = fmt.Errorf("encoding %q: %w", name, err)
		return
	}
	_, o.err = o.w.Write(doc)
}

// optional writes a list, unless it is empty.
func optional[T any](o *objectWriter, name string, list []T) {
	if len(list) > 0 {
		o.field(name, list)
	}
}

func (o *objectWriter) exchanges(all Exchanges) {
	o.key("exchanges")
	o.text("[")
	separator := "\n    "
	for x := range all.All() {
		if o.err != nil {
			return
		}
		line, err := encodeExchange(normalisedExchange(x))
		if err != nil {
			o.err = err
			return
		}
		o.text(separator)
		o.text(string(bytes.TrimRight(safe.JSON(line), "\n")))
		separator = ",\n    "
	}
	if all.Len() > 0 {
		o.text("\n  ")
	}
	o.text("]")
}

// encodeExchange writes x as one line of JSON in which <, > and & stay readable.
func encodeExchange(x Exchange) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return nil, fmt.Errorf("encoding an exchange (%s %s): %w", x.Method, x.URL, err)
	}
	return b.Bytes(), nil
}

func (o *objectWriter) close() error {
	o.text("\n}\n")
	if o.err == nil {
		o.err = o.w.Flush()
	}
	if o.err != nil {
		return fmt.Errorf("writing the result file: %w", o.err)
	}
	return nil
}

func encodeIndented(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("  ", "  ")
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(safe.JSON(b.Bytes()), "\n"), nil
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
