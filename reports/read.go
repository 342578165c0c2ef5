package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/agentconform/agentconform/reports/safe"
)

// ReadFile reads a result file. Its exchanges stay in the file and are read from there when asked for, so the file
// must not change or move while the result is in use.
func ReadFile(path string) (*Result, error) {
	info, err := os.Stat(path) // before it is opened: a FIFO would wait for somebody who writes
	if err != nil {
		return nil, fmt.Errorf("reading a result file: %w; name the result.json of a run", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading %s: not a regular file; use the result.json of a run", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a result file: %w; name the result.json of a run", err)
	}
	defer file.Close() //nolint:errcheck // only read
	if info.Size() > maxFile {
		return nil, fmt.Errorf("reading %s: %d bytes are more than a result file may have (%d)", path, info.Size(), int64(maxFile))
	}
	from := &metered{file: file}
	d := resultReader{from: from, dec: json.NewDecoder(from), result: &Result{}, stored: &stored{path: path}}
	if err := d.read(); err != nil {
		return nil, d.explain(file, err)
	}
	if err := check(d.result); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return d.result, nil
}

// resultReader decodes a result file member by member.
type resultReader struct {
	from   *metered
	dec    *json.Decoder
	result *Result
	stored *stored
	where  string // the member being read, for messages
}

func (d *resultReader) read() error {
	if err := d.delim('{', "a result file is one JSON object"); err != nil {
		return err
	}
	r, seen := d.result, map[string]bool{}
	members := map[string]any{
		"schema": &r.Schema, "suite": &r.Suite, "target": &r.Target, "run": &r.Run, "verdict": &r.Verdict,
		"scope": &r.Scope, "not_judged": &r.NotJudged, "unseen": &r.Unseen,
		"headline": &r.Headline, "counts": &r.Counts, "requirements": &r.Requirements, "findings": &r.Findings,
		"coverage": &r.Coverage, "timeline": &r.Timeline, "ledger": &r.Ledger, "notes": &r.Notes, "baseline": &r.Baseline,
	}
	for d.more(maxMember) {
		token, err := d.dec.Token()
		if err != nil {
			return err
		}
		d.where, _ = token.(string)
		d.where = safe.Cut(d.where, 100)
		if seen[d.where] {
			return errors.New("the member occurs twice")
		}
		seen[d.where] = true
		if err := d.member(members[d.where]); err != nil {
			return err
		}
	}
	d.where = ""
	d.from.allow(d.dec.InputOffset(), ahead)
	if _, err := d.dec.Token(); err != nil {
		return err
	}
	if _, err := d.dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows after the end of the object")
	}
	r.Exchanges = d.stored
	return nil
}

func (d *resultReader) member(into any) error {
	switch {
	case d.where == "exchanges":
		return d.exchanges()
	case into == nil: // a member of a later version: it does no harm
		into = &json.RawMessage{}
	}
	raw, err := d.value(maxMember)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// more tells whether another member or element comes, which may have so many bytes.
func (d *resultReader) more(most int64) bool {
	d.from.allow(d.dec.InputOffset(), most)
	return d.dec.More()
}

// value reads a value that may have so many bytes.
func (d *resultReader) value(most int64) (raw json.RawMessage, err error) {
	d.from.allow(d.dec.InputOffset(), most)
	if err := d.dec.Decode(&raw); err != nil {
		return nil, err
	}
	if int64(len(raw)) > most {
		return nil, &tooLarge{most, "bytes"}
	}
	if Elements(raw) > maxElements {
		return nil, &tooLarge{maxElements, "elements in lists"}
	}
	return raw, nil
}

// exchanges notes the place of each exchange. Each is decoded once, so that a broken one shows now and not later.
func (d *resultReader) exchanges() error {
	if err := d.delim('[', "exchanges are a list"); err != nil {
		return err
	}
	for d.more(maxStored) {
		d.where = fmt.Sprintf("exchanges[%d]", len(d.stored.index))
		if len(d.stored.index) >= maxReadExchange {
			return fmt.Errorf("there are more than %d exchanges", maxReadExchange)
		}
		raw, err := d.value(maxStored)
		if err != nil {
			return err
		}
		var x Exchange
		if err := json.Unmarshal(raw, &x); err != nil {
			return err
		}
		if x.ID != len(d.stored.index)+1 {
			return fmt.Errorf("its id is %d; the ids count from 1", x.ID)
		}
		d.stored.index = append(d.stored.index, span{offset: d.dec.InputOffset() - int64(len(raw)), length: len(raw)})
	}
	_, err := d.dec.Token()
	return err
}

func (d *resultReader) delim(want json.Delim, rule string) error {
	d.from.allow(d.dec.InputOffset(), ahead)
	token, err := d.dec.Token()
	if err != nil {
		return err
	}
	if token != want {
		return errors.New(rule)
	}
	return nil
}

// explain says where the file is broken, and what to do about it.
func (d *resultReader) explain(file *os.File, err error) error {
	var typed *json.UnmarshalTypeError
	what, hint := err.Error(), "name the result.json that a run has written"
	switch {
	case errors.As(err, &typed):
		what = fmt.Sprintf("%s where %s is expected", typed.Value, typed.Type)
		if typed.Field != "" {
			what = typed.Field + ": " + what
		}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		what, hint = "it ends too early", "was the run or a copy cut off? run again, or copy the file again"
	}
	if d.where != "" {
		what = d.where + ": " + what
	}
	return fmt.Errorf("reading %s, line %d: %s; %s", file.Name(), lineAt(file, d.dec.InputOffset()), what, hint)
}

// lineAt counts the lines up to an offset.
func lineAt(file io.ReaderAt, offset int64) int {
	line, buffer := 1, make([]byte, 64<<10)
	for at := int64(0); at < offset; {
		n, err := file.ReadAt(buffer[:min(int64(len(buffer)), offset-at)], at)
		for _, c := range buffer[:n] {
			if c == '\n' {
				line++
			}
		}
		at += int64(n)
		if err != nil {
			break
		}
	}
	return line
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

// stored reads exchanges from a result file. It opens the file for each use, so that it need not be closed.
type stored struct {
	path  string
	index []span
}

func (s *stored) Len() int { return len(s.index) }

func (s *stored) Get(id int) (Exchange, error) {
	if id < 1 || id > len(s.index) {
		return Exchange{}, noSuchExchange(id, len(s.index))
	}
	file, err := os.Open(s.path)
	if err != nil {
		return Exchange{}, fmt.Errorf("reading exchange %d: %w", id, err)
	}
	defer file.Close() //nolint:errcheck // only read
	return readExchange(file, s.index[id-1], id)
}

func (s *stored) All() iter.Seq2[Exchange, error] {
	return func(yield func(Exchange, error) bool) {
		file, err := os.Open(s.path)
		if err != nil {
			yield(Exchange{}, fmt.Errorf("reading exchanges: %w", err))
			return
		}
		defer file.Close() //nolint:errcheck // only read
		for i, place := range s.index {
			x, err := readExchange(file, place, i+1)
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// span is the place of one encoded exchange in a file.
type span struct {
	offset int64
	length int
}

// readExchange decodes the exchange at a place. The id is that of the index: the stored one is of no meaning.
func readExchange(from io.ReaderAt, place span, id int) (Exchange, error) {
	doc := make([]byte, place.length)
	if _, err := from.ReadAt(doc, place.offset); err != nil {
		return Exchange{}, fmt.Errorf("reading exchange %d: %w", id, err)
	}
	var x Exchange
	if err := json.Unmarshal(doc, &x); err != nil {
		return Exchange{}, fmt.Errorf("decoding exchange %d: %w", id, err)
	}
	x.ID = id
	return x, nil
}
