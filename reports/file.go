package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of a result file that is read: it may come from anywhere. That of a run with 1,800 exchanges has 5 MB, and
// some hundred thousand values.
const (
	maxFile       = 64 << 20
	maxFileValues = 1_500_000
	maxID         = 1 << 10 // bytes
)

// ReadFile reads a result file. It may come from anywhere: how large it is, and how many values it holds, is looked at
// before anything is decoded.
func ReadFile(path string) (*Result, error) {
	info, err := os.Stat(path) // before it is opened: a FIFO would wait for somebody who writes
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading a result file: %w; name the result.json of a run", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("reading %s: not a regular file; use the result.json of a run", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("reading %s: %d bytes are more than a result file may have (%d)", path, info.Size(), maxFile)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a result file: %w; name the result.json of a run", err)
	}
	if values(raw) > maxFileValues {
		return nil, fmt.Errorf("reading %s: it has more than %d values, which no result has", path, maxFileValues)
	}
	r := &Result{}
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("reading %s: %w; name the result.json that a run has written, whole", path, err)
	}
	if err := check(r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	r.Exchanges = Record(nil, r.Exchanges...)
	return r, nil
}

// values counts the values in a JSON text, roughly: its commas and opening brackets outside of strings. A list of empty
// objects is short as a text, and takes hundreds of times as much memory when it is decoded.
func values(doc []byte) (n int) {
	quoted := false
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// IsSegment tells whether an id can be one segment of a path, and the name of a file: not empty, no slash, no dot
// segment, no control character, and at most so many bytes.
func IsSegment(id string, most int) bool {
	return id != "" && id != "." && id != ".." && len(id) <= most && utf8.ValidString(id) &&
		!strings.ContainsFunc(id, func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) })
}

// check refuses a file that is well formed and yet no result. Only what is used of a foreign file is looked at: it is
// compared, or its findings are judged again.
func check(r *Result) error {
	switch {
	case r.Schema != Schema:
		return fmt.Errorf("its schema is %.100q, this program reads %q; use the agentconform that wrote it, or run again",
			r.Schema, Schema)
	case !slices.Contains([]Conclusion{Conformant, NonConformant, Incomplete}, r.Verdict):
		return fmt.Errorf("verdict %.100q is unknown", r.Verdict)
	case r.Scope != ScopeWhole && r.Scope != ScopePart:
		return fmt.Errorf("scope %.100q is unknown", r.Scope)
	}
	noID := func(id string) error {
		if IsSegment(id, maxID) {
			return nil
		}
		return fmt.Errorf("%q is no id: one has 1 to %d bytes, no slash and no control character", safe.Cut(id, 100), maxID)
	}
	ids := map[string]bool{}
	for _, q := range r.Requirements {
		switch {
		case noID(q.ID) != nil:
			return noID(q.ID)
		case ids[q.ID]:
			return fmt.Errorf("requirement id %q occurs twice", q.ID)
		case !slices.Contains(Verdicts, q.Verdict):
			return fmt.Errorf("requirement %s has the unknown verdict %.100q", q.ID, q.Verdict)
		case !slices.Contains(Levels, q.Level):
			return fmt.Errorf("requirement %s has the unknown level %.100q", q.ID, q.Level)
		}
		ids[q.ID] = true
	}
	for i, x := range r.Exchanges {
		if x.ID != i+1 {
			return fmt.Errorf("exchanges[%d]: its id is %d; the ids count from 1", i, x.ID)
		}
	}
	for _, f := range r.Findings {
		if err := cmp.Or(noID(f.ID), noID(f.Requirement)); err != nil {
			return err
		}
		if _, err := r.Exchange(f.Exchange); err != nil && f.Exchange != 0 {
			return fmt.Errorf("finding %s: %w", f.ID, err)
		}
	}
	return nil
}

// WriteJSON writes r as a result file: the content of result.json. Exchanges are one a line; all else is indented. What
// could do harm on a terminal is written as \u escapes. A reader of the file sees [] and {}, never null.
func (r *Result) WriteJSON(w io.Writer) error {
	n := *r
	n.Exchanges = nil
	// Texts quote the target, which may have sent megabytes.
	n = safe.Copy(n, func(text string) string { return safe.Cut(text, MaxBody) })
	n.Schema, n.Exchanges = Schema, nil
	doc, err := Encode(n, "  ")
	if err != nil {
		return fmt.Errorf("encoding the result: %w", err)
	}
	var lines []string
	for _, x := range r.Exchanges {
		line, err := Encode(x, "")
		if err != nil {
			return fmt.Errorf("encoding exchange %d: %w", x.ID, err)
		}
		lines = append(lines, "\n    "+strings.TrimSpace(string(safe.JSON(line))))
	}
	exchanges := strings.Join(lines, ",")
	if exchanges != "" {
		exchanges += "\n  "
	}
	// No text of a target can hold it with these quotation marks.
	before, after, _ := bytes.Cut(safe.JSON(doc), []byte(`"exchanges": null`))
	_, err = fmt.Fprintf(w, `%s"exchanges": [%s]%s`, before, exchanges, after)
	return err
}

// Encode returns a value as JSON in which <, > and & stay readable, with a line feed at the end.
func Encode(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(value)
	return b.Bytes(), err
}
