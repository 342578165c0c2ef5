package spec

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

// Traces says which words of a vocabulary one request or answer shows.
type Traces struct {
	Used      map[string]bool // as the vocabulary spells them
	Required  map[string]bool // of these, fields that a request must have
	Unchanged map[string]bool // as the interface spells them, though the vocabulary has another name
	Missing   map[string]bool // required fields that are absent
	Absent    map[string]bool // optional fields that are absent
	Replaced  map[string]bool // values in the place of which there is a value that the interface does not have
}

func note(set *map[string]bool, word string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[word] = true
}

// Request spells the query and the body of a request as the target does. Only names are replaced, every other byte stays as
// it is; a body that is not JSON stays whole. The path is relative to the base address of the side.
func (v *Vocabulary) Request(side Side, method, path, query string, body []byte) (string, []byte, Traces) {
	var t Traces
	d := v.of(side, method, path)
	if d == nil {
		return query, body, t
	}
	return d.wireQuery(query, &t), rewritten(body, d.body, true, &t), t
}

// Answer spells the body of an answer as the interface does, in a copy. Only names are replaced, every other byte stays as it
// is; a body that is not JSON stays whole.
func (v *Vocabulary) Answer(side Side, method, path string, status int, body []byte) ([]byte, Traces) {
	var t Traces
	d := v.of(side, method, path)
	if d == nil {
		return body, t
	}
	return rewritten(body, d.answer(status), false, &t), t
}

// Pointer spells a JSON pointer into an answer's body, which has the interface's names, as the target does.
func (v *Vocabulary) Pointer(side Side, method, path string, status int, pointer string) string {
	d := v.of(side, method, path)
	if d == nil || pointer == "" {
		return pointer
	}
	s, segments := d.answer(status), strings.Split(pointer, "/")
	for i, name := range segments[1:] {
		if s == nil {
			break
		}
		if as := s.keys.toWire[name]; as != "" {
			segments[i+1] = escapePointer(as)
		}
		if s.items != nil {
			s = s.items
		} else {
			s = s.inner[name]
		}
	}
	return strings.Join(segments, "/")
}

// Concerned lists the words that a violation of the contract in the target's words may be about: a field that is missing, and
// the renamed values where another value is not allowed.
func (v *Vocabulary) Concerned(x Violation) (words []string) {
	if v.Empty() {
		return nil
	}
	for _, d := range v.operations {
		if d.id != x.Operation {
			continue
		}
		s := d.answer(x.Status)
		segments := strings.Split(x.Pointer, "/")[1:]
		for i, segment := range segments {
			if s == nil {
				return nil
			}
			name := segment
			if ours := s.keys.fromWire[segment]; ours != "" {
				name = ours
			}
			if i == len(segments)-1 && x.Keyword == "required" && s.keys.toWire[name] != "" {
				return []string{name}
			}
			if s.items != nil {
				s = s.items
			} else {
				s = s.inner[name]
			}
		}
		if s != nil && x.Keyword == "enum" {
			for name := range s.values.toWire {
				words = append(words, name)
			}
		}
	}
	return words
}

// wireQuery replaces names and values of parameters. What needs no replacement keeps its escapes.
func (d *dictionary) wireQuery(query string, t *Traces) string {
	if query == "" {
		return ""
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		rawName, rawValue, assigned := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		p := d.query[name]
		if err != nil || p == nil {
			continue
		}
		if as := p.keys.toWire[name]; as != "" {
			note(&t.Used, name)
			rawName = url.QueryEscape(as)
		}
		pairs[i] = rawName
		if assigned {
			pairs[i] += "=" + p.wireValues(rawValue, t)
		}
	}
	return strings.Join(pairs, "&")
}

// wireValues replaces values in a comma-separated list, escaped or not.
func (s *shape) wireValues(raw string, t *Traces) string {
	comma := ","
	if !strings.Contains(raw, comma) {
		comma = "%2C"
	}
	list := strings.Split(raw, comma)
	for i, item := range list {
		value, err := url.QueryUnescape(item)
		if as := s.values.toWire[value]; err == nil && as != "" {
			note(&t.Used, value)
			list[i] = url.QueryEscape(as)
		}
	}
	return strings.Join(list, comma)
}

// rewriter copies a JSON text that is known to be valid, and replaces strings in it. It goes down only where a shape does, and
// so only as deep as the schemas.
type rewriter struct {
	in     []byte
	pos    int
	out    []byte
	copied int // of in
	toWire bool
	traces *Traces
}

func rewritten(body []byte, s *shape, toWire bool, t *Traces) []byte {
	if s == nil || len(body) == 0 || !json.Valid(body) {
		return body
	}
	r := &rewriter{in: body, toWire: toWire, traces: t}
	r.space()
	r.value(s)
	if r.copied == 0 {
		return body
	}
	return append(r.out, body[r.copied:]...)
}

func (r *rewriter) value(s *shape) {
	switch c := r.in[r.pos]; {
	case c == '{' && s != nil && (!s.keys.none() || len(s.inner) > 0):
		r.object(s)
	case c == '[' && s != nil && s.items != nil:
		r.open()
		for r.in[r.pos] != ']' {
			r.value(s.items)
			r.comma()
		}
		r.pos++
	case c == '"' && s != nil && !s.values.none():
		r.enumerated(s)
	default:
		r.skip()
	}
}

func (r *rewriter) object(s *shape) {
	present := map[string]bool{}
	r.open()
	for r.in[r.pos] != '}' {
		start := r.pos
		key := r.text()
		name := key
		if r.toWire {
			r.replace(start, s.keys.toWire[key])
		} else if ours := s.keys.fromWire[key]; ours != "" {
			name = ours
			r.replace(start, ours)
		}
		present[name] = true
		r.space()
		r.open() // behind the colon
		r.value(s.inner[name])
		r.comma()
	}
	r.pos++
	r.noteKeys(s, present)
}

func (r *rewriter) noteKeys(s *shape, present map[string]bool) {
	for name := range s.keys.toWire {
		switch {
		case present[name]:
			note(&r.traces.Used, name)
			if s.required[name] {
				note(&r.traces.Required, name)
			}
		case r.toWire:
		case s.required[name]:
			note(&r.traces.Missing, name)
		default:
			note(&r.traces.Absent, name)
		}
		if !r.toWire && present[Unmapped+name] && !present[name] {
			note(&r.traces.Unchanged, name)
		}
	}
}

func (r *rewriter) enumerated(s *shape) {
	start := r.pos
	value := r.text()
	switch {
	case r.toWire && s.values.toWire[value] != "":
		note(&r.traces.Used, value)
		r.replace(start, s.values.toWire[value])
	case r.toWire:
	case s.values.fromWire[value] == Unmapped+value:
		note(&r.traces.Unchanged, value)
		r.replace(start, Unmapped+value)
	case s.values.fromWire[value] != "":
		note(&r.traces.Used, s.values.fromWire[value])
		r.replace(start, s.values.fromWire[value])
	case s.closed && !s.allowed[value]:
		for name := range s.values.toWire {
			note(&r.traces.Replaced, name)
		}
	}
}

// replace puts another string in the place of the one that was just read; none is no replacement.
func (r *rewriter) replace(start int, text string) {
	if text == "" {
		return
	}
	r.out = append(r.out, r.in[r.copied:start]...)
	quoted, _ := json.Marshal(text) // a string
	r.out = append(r.out, quoted...)
	r.copied = r.pos
}

// text reads a string.
func (r *rewriter) text() (s string) {
	start := r.pos
	r.skip()
	raw := r.in[start:r.pos]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	_ = json.Unmarshal(raw, &s) // the whole text is valid
	return s
}

// open goes behind a bracket or a colon.
func (r *rewriter) open() {
	r.pos++
	r.space()
}

// comma goes to what follows a value: behind a comma, or to the end of the array or object.
func (r *rewriter) comma() {
	r.space()
	if r.in[r.pos] == ',' {
		r.open()
	}
}

func (r *rewriter) space() {
	for r.pos < len(r.in) && strings.IndexByte(" \t\r\n", r.in[r.pos]) >= 0 {
		r.pos++
	}
}

// skip goes behind a value, however deep it is.
func (r *rewriter) skip() {
	for depth := 0; r.pos < len(r.in); {
		switch c := r.in[r.pos]; c {
		case '{', '[':
			depth++
			r.pos++
		case '}', ']':
			depth--
			r.pos++
		case '"':
			r.skipString()
		case ',', ':', ' ', '\t', '\r', '\n':
			r.pos++
			continue
		default:
			r.skipWord()
		}
		if depth == 0 {
			return
		}
	}
}

func (r *rewriter) skipString() {
	for r.pos++; r.in[r.pos] != '"'; r.pos++ {
		if r.in[r.pos] == '\\' {
			r.pos++
		}
	}
	r.pos++
}

// skipWord goes behind a number, true, false or null.
func (r *rewriter) skipWord() {
	for r.pos < len(r.in) && strings.IndexByte(",:]} \t\r\n", r.in[r.pos]) < 0 {
		r.pos++
	}
}
