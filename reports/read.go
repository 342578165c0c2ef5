package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// ReadFile reads a result file. It may come from anywhere: how large it is, and how many elements its lists have, is looked at
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
	if Elements(raw) > maxElements {
		return nil, fmt.Errorf("reading %s: its lists have more than %d elements, which no result has", path, maxElements)
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

// check refuses a file that is well formed and yet no result: reports would be wrong about it.
func check(r *Result) error {
	if r.Schema != Schema {
		return fmt.Errorf("its schema is %.100q, this program reads %q; use the agentconform that wrote it, or run again", r.Schema, Schema)
	}
	if !slices.Contains([]Conclusion{Conformant, NonConformant, Incomplete}, r.Verdict) {
		return fmt.Errorf("verdict %.100q is unknown", r.Verdict)
	}
	if !slices.Contains([]Scope{ScopeWhole, ScopePart}, r.Scope) {
		return fmt.Errorf("scope %.100q is unknown", r.Scope)
	}
	if err := checkIDs(r); err != nil {
		return err
	}
	ids, exchanges := map[string]bool{}, r.Exchanges.Len()
	for _, q := range r.Requirements {
		switch {
		case ids[q.ID]:
			return fmt.Errorf("requirement id %q occurs twice", q.ID)
		case q.Verdict.rank() == len(Verdicts):
			return fmt.Errorf("requirement %s has the unknown verdict %.100q", q.ID, q.Verdict)
		case !slices.Contains([]Level{Must, Should, May}, q.Level):
			return fmt.Errorf("requirement %s has the unknown level %.100q", q.ID, q.Level)
		}
		ids[q.ID] = true
		for _, s := range q.Scenarios {
			for _, id := range s.Exchanges {
				if id < 1 || id > exchanges {
					return fmt.Errorf("requirement %s, scenario %.100q: %w", q.ID, s.Name, noSuchExchange(id, exchanges))
				}
			}
		}
	}
	for _, n := range r.Notes {
		if n.Exchange < 0 || n.Exchange > exchanges {
			return fmt.Errorf("note %.100q: %w", n.Kind, noSuchExchange(n.Exchange, exchanges))
		}
	}
	for _, f := range r.Findings {
		if f.Exchange < 0 || f.Exchange > exchanges {
			return fmt.Errorf("finding %s: %w", f.ID, noSuchExchange(f.Exchange, exchanges))
		}
		for _, link := range f.Exchanges {
			if link.Exchange < 1 || link.Exchange > exchanges {
				return fmt.Errorf("finding %s: %w", f.ID, noSuchExchange(link.Exchange, exchanges))
			}
			if !slices.Contains(Parts, link.Part) {
				return fmt.Errorf("finding %s: exchange %d has the unknown part %.100q", f.ID, link.Exchange, link.Part)
			}
		}
	}
	return nil
}
