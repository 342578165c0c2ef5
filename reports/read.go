package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of a result file that is read: it may come from anywhere. That of a run with 1,800 exchanges has 5 MB, and some
// hundred thousand values.
const (
	maxFile       = 64 << 20
	maxFileValues = 1_500_000
	maxID         = 1 << 10 // bytes
)

// ReadFile reads a result file. It may come from anywhere: how large it is, and how many values it holds, is looked at
// before anything is decoded.
func ReadFile(path string) (*Result, error) {
	info, err := os.Stat(path) // before it is opened: a FIFO would wait for somebody who writes
	if err != nil {
		return nil, fmt.Errorf("reading a result file: %w; name the result.json of a run", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading %s: not a regular file; use the result.json of a run", path)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("reading %s: %d bytes are more than a result file may have (%d)", path, info.Size(), maxFile)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a result file: %w; name the result.json of a run", err)
	}
	if values(raw) > maxFileValues {
		return nil, fmt.Errorf("reading %s: it has more than %d values, which no result has", path, maxFileValues)
	}
	var doc struct {
		Result
		Recorded []Exchange `json:"exchanges"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, explain(path, raw, err)
	}
	for i, x := range doc.Recorded {
		if x.ID != i+1 {
			return nil, fmt.Errorf("reading %s: exchanges[%d]: its id is %d; the ids count from 1", path, i, x.ID)
		}
	}
	doc.Exchanges = NewMemory(doc.Recorded...)
	if err := check(&doc.Result); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return &doc.Result, nil
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

// explain says where the file is broken, and what to do about it.
func explain(path string, raw []byte, err error) error {
	what, hint, at := err.Error(), "name the result.json that a run has written", 0
	if typed, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		at, what = int(typed.Offset), fmt.Sprintf("%s: %s where %s is expected", typed.Field, typed.Value, typed.Type)
		if typed.Field == "" {
			what = "a result file is one JSON object"
		}
	}
	if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		at = int(syntax.Offset)
		if strings.HasPrefix(what, "unexpected end") {
			what, hint = "it ends too early", "was the run or a copy cut off? run again, or copy the file again"
		}
	}
	line := 1 + bytes.Count(raw[:min(at, len(raw))], []byte("\n"))
	return fmt.Errorf("reading %s, line %d: %s; %s", path, line, what, hint)
}

// IsSegment tells whether an id can be one segment of a path, and the name of a file: not empty, no slash, no dot
// segment, no control character, and at most so many bytes.
func IsSegment(id string, most int) bool {
	return id != "" && id != "." && id != ".." && len(id) <= most && utf8.ValidString(id) &&
		!strings.ContainsFunc(id, func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) })
}

// check refuses a file that is well formed and yet no result: reports would be wrong about it. Ids become names of files
// and of places in pages.
func check(r *Result) error {
	switch {
	case r.Schema != Schema:
		return fmt.Errorf("its schema is %.100q, this program reads %q; use the agentconform that wrote it, or run again", r.Schema, Schema)
	case !slices.Contains([]Conclusion{Conformant, NonConformant, Incomplete}, r.Verdict):
		return fmt.Errorf("verdict %.100q is unknown", r.Verdict)
	case r.Scope != ScopeWhole && r.Scope != ScopePart:
		return fmt.Errorf("scope %.100q is unknown", r.Scope)
	}
	var first error
	fail := func(format string, args ...any) { first = cmp.Or(first, fmt.Errorf(format, args...)) }
	id := func(texts ...string) {
		for _, text := range texts {
			if !IsSegment(text, maxID) {
				fail("%q is no id: one has 1 to %d bytes, no slash and no control character", safe.Cut(text, 100), maxID)
			}
		}
	}
	exchange := func(least, id int, of string, named any) {
		if n := r.Exchanges.Len(); id < least || id > n {
			fail("%s %.100q: %w", of, named, noSuchExchange(id, n))
		}
	}
	ids := map[string]bool{}
	for _, q := range r.Requirements {
		id(q.ID)
		switch {
		case ids[q.ID]:
			fail("requirement id %q occurs twice", q.ID)
		case !slices.Contains(Verdicts, q.Verdict):
			fail("requirement %s has the unknown verdict %.100q", q.ID, q.Verdict)
		case !slices.Contains(Levels, q.Level):
			fail("requirement %s has the unknown level %.100q", q.ID, q.Level)
		}
		ids[q.ID] = true
		for _, s := range q.Scenarios {
			for _, x := range s.Exchanges {
				exchange(1, x, "scenario", s.Name)
			}
		}
	}
	for _, n := range r.Notes {
		exchange(0, n.Exchange, "note", n.Kind)
	}
	for _, f := range r.Findings {
		id(f.ID, f.Requirement)
		exchange(0, f.Exchange, "finding", f.ID)
		for _, link := range f.Exchanges {
			exchange(1, link.Exchange, "finding", f.ID)
			if !slices.Contains(Parts, link.Part) {
				fail("finding %s: exchange %d has the unknown part %.100q", f.ID, link.Exchange, link.Part)
			}
		}
	}
	return first
}
