package reports

import (
	"bytes"
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

// Limits of a result file and of the file with the exchanges, which may come from anywhere. The latter has 10 MB without
// compression and some hundred thousand values for a test run with 5,500 exchanges.
const (
	maxFile       = 64 << 20
	maxFileValues = 1_500_000
	maxID         = 1 << 10 // bytes
)

// ReadFile reads a result file. The file may come from anywhere, so its size and the number of its values are checked
// before it is decoded.
func ReadFile(path string) (*Result, error) {
	info, err := os.Stat(path) // opening a FIFO would wait for a writer
	if err != nil {
		return nil, fmt.Errorf("reading a result file: %w; name the result.json of a test run", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading %s: not a regular file; name the result.json of a test run", path)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("reading %s: it has %d bytes; a result file has at most %d", path, info.Size(), maxFile)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a result file: %w; name the result.json of a test run", err)
	}
	if countValues(raw) > maxFileValues {
		return nil, fmt.Errorf("reading %s: it has more than %d values; no result file has that many", path, maxFileValues)
	}
	r := &Result{}
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("reading %s: %w; name the complete result.json of a test run", path, err)
	}
	if err := check(r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	for i, x := range r.Exchanges {
		r.Exchanges[i] = x.bounded()
	}
	if r.ExchangesFile != "" {
		if err := readExchanges(r, path); err != nil {
			return nil, err
		}
	}
	SetProblems(r) // the file may be of an earlier version, or edited
	return r, nil
}

// countValues returns the approximate number of values in a JSON text: its commas and opening brackets outside of
// strings. A decoded list of empty objects takes hundreds of times as much memory as its text.
func countValues(doc []byte) (n int) {
	quoted := false
	for i := 0; i < len(doc); i++ {
		c := doc[i]
		switch {
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

// IsSegment reports whether an id can be one segment of a path and the name of a file: it is not empty, not "." or "..",
// has no slash or control character, and has at most limit bytes.
func IsSegment(id string, limit int) bool {
	return id != "" && id != "." && id != ".." && len(id) <= limit && utf8.ValidString(id) &&
		!strings.ContainsFunc(id, func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) })
}

// check validates the fields that compare and replay use.
func check(r *Result) error {
	switch {
	case r.Schema != Schema:
		return fmt.Errorf("its schema is %.100q, this program reads %q; use the agentconform that wrote it, or repeat the test run",
			r.Schema, Schema)
	case !slices.Contains([]Conclusion{Conformant, NonConformant, Incomplete}, r.Verdict):
		return fmt.Errorf("verdict %.100q is unknown", r.Verdict)
	case r.Scope != ScopeWhole && r.Scope != ScopePart:
		return fmt.Errorf("scope %.100q is unknown", r.Scope)
	}
	ids := map[string]bool{}
	for _, q := range r.Requirements {
		if err := checkID(q.ID); err != nil {
			return err
		}
		switch {
		case ids[q.ID]:
			return fmt.Errorf("requirement ID %q occurs twice", q.ID)
		case !slices.Contains(Verdicts, q.Verdict):
			return fmt.Errorf("requirement %s has the unknown verdict %.100q", q.ID, q.Verdict)
		case !slices.Contains(Levels, q.Level):
			return fmt.Errorf("requirement %s has the unknown level %.100q", q.ID, q.Level)
		}
		ids[q.ID] = true
	}
	before := 0
	for i, x := range r.Exchanges {
		if x.ID <= before {
			return fmt.Errorf("exchanges[%d]: the id %d is not above %d, the one before", i, x.ID, before)
		}
		before = x.ID
	}
	for _, f := range r.Findings {
		if err := checkID(f.ID); err != nil {
			return err
		}
		if err := checkID(f.Requirement); err != nil {
			return err
		}
		if _, err := r.Exchange(f.Exchange); err != nil && f.Exchange != 0 {
			return fmt.Errorf("finding %s: %w", f.ID, err)
		}
	}
	return nil
}

func checkID(id string) error {
	if !IsSegment(id, maxID) {
		return fmt.Errorf("invalid id %q: an id has 1 to %d bytes, no slash and no control character", safe.Cut(id, 100), maxID)
	}
	return nil
}

// WriteJSON writes r as a result file (result.json), with the exchanges that other parts of it refer to. Each exchange is
// on one line, and the rest is indented. Characters that are dangerous on a terminal become \u escapes. Empty lists and
// objects are [] and {}, not null.
func (r *Result) WriteJSON(w io.Writer) error {
	n := *r
	n.Exchanges = nil
	// Texts may contain megabytes from the target.
	n = safe.Copy(n, func(text string) string { return safe.Cut(text, MaxBody) })
	n.Schema, n.Exchanges = Schema, nil
	doc, err := Encode(n, "  ")
	if err != nil {
		return fmt.Errorf("encoding the result: %w", err)
	}
	// In texts of the target the quotation marks are escaped.
	before, after, _ := bytes.Cut(safe.JSON(doc), []byte(`"exchanges": null`))
	if _, err := fmt.Fprintf(w, `%s"exchanges": [`, before); err != nil {
		return err
	}
	separator, end := "\n    ", "]"
	for _, x := range r.named() {
		line, err := Encode(x, "")
		if err != nil {
			return fmt.Errorf("encoding exchange %d: %w", x.ID, err)
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, bytes.TrimSpace(safe.JSON(line))); err != nil {
			return err
		}
		separator, end = ",\n    ", "\n  ]"
	}
	_, err = fmt.Fprintf(w, "%s%s", end, after)
	return err
}

// Encode returns a value as JSON with a final line feed. It does not escape <, > and &.
func Encode(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(value)
	return b.Bytes(), err
}

// WriteEncoded writes a value like [Encode]. Characters that are dangerous on a terminal become \u escapes.
func WriteEncoded(w io.Writer, value any, indent string) error {
	doc, err := Encode(value, indent)
	if err != nil {
		return err
	}
	_, err = w.Write(safe.JSON(doc))
	return err
}
