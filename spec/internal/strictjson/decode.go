package strictjson

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may nest. Honest bodies stay far below it.
const MaxDepth = 512

// MaxValues is how many JSON values a text may have: each costs a hundred bytes once it is decoded, and may be written in two.
const MaxValues = 50_000

// maxPointer bounds the pointer of a fault, in bytes: keys may be megabytes long.
const maxPointer = 1 << 10

// maxFaults bounds the report: a text may repeat one key a million times.
const maxFaults = 16

// Kind is what is wrong with a text.
type Kind string

// The kinds of faults.
const (
	Syntax       Kind = "json"          // not JSON
	Trailing     Kind = "trailing"      // something follows the value
	DuplicateKey Kind = "duplicate-key" // an object has a key twice
	Encoding     Kind = "encoding"      // not UTF-8
	Depth        Kind = "depth"         // nested deeper than MaxDepth
	Values       Kind = "values"        // more than MaxValues values
)

// Fault is one thing that is wrong.
type Fault struct {
	Kind    Kind
	Pointer string // JSON pointer of a key that occurs twice; "" for what is wrong with the text as a whole
	Offset  int    // in bytes
	Detail  string
}

// Text is a decoded text.
type Text struct {
	// Value holds nil, bool, string, int64, float64, []any and map[string]any. Where a key occurs twice, the last one counts.
	Value any
	// Decoded is false where there is no value, because of a fault.
	Decoded bool
	Faults  []Fault
}

// Decode reads one JSON value.
func Decode(data []byte) Text {
	if !utf8.Valid(data) {
		return Text{Faults: []Fault{{Kind: Encoding, Offset: invalidUTF8(data), Detail: "invalid UTF-8"}}}
	}
	d := decoder{data: data}
	d.space()
	value, ok := d.value(0)
	if !ok {
		return Text{Faults: d.faults}
	}
	d.space()
	if d.pos < len(d.data) {
		d.path = nil
		d.report(Trailing, d.pos, "more follows the JSON value")
	}
	return Text{Value: value, Decoded: true, Faults: d.faults}
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

type segment struct {
	key   string
	index int // -1 where key counts
}

type decoder struct {
	data   []byte
	pos    int
	path   []segment
	values int
	faults []Fault
}

func (d *decoder) report(kind Kind, offset int, detail string) {
	if len(d.faults) < maxFaults {
		d.faults = append(d.faults, Fault{Kind: kind, Pointer: d.pointer(), Offset: offset, Detail: detail})
	}
}

// fail reports a fault that leaves no value.
func (d *decoder) fail(kind Kind, detail string) bool {
	d.faults, d.path = nil, nil // what came before does not matter in a text that is not JSON
	d.report(kind, d.pos, detail)
	return false
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

func (d *decoder) pointer() string {
	var b strings.Builder
	for _, s := range d.path {
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(escaper.Replace(s.key[:min(len(s.key), maxPointer)]))
		}
		if b.Len() > maxPointer {
			return strings.ToValidUTF8(b.String()[:maxPointer], "") + "…"
		}
	}
	return b.String()
}

func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// peek is the next byte, or 0 at the end; a 0 byte in the text is not JSON either.
func (d *decoder) peek() byte {
	if d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

func (d *decoder) unexpected(wanted string) bool {
	if d.pos >= len(d.data) {
		return d.fail(Syntax, "the text ends where "+wanted+" is expected")
	}
	r, _ := utf8.DecodeRune(d.data[d.pos:])
	return d.fail(Syntax, strconv.QuoteRune(r)+" where "+wanted+" is expected")
}

func (d *decoder) value(depth int) (any, bool) {
	if d.values++; d.values > MaxValues {
		return nil, d.fail(Values, "more than "+strconv.Itoa(MaxValues)+" JSON values")
	}
	switch c := d.peek(); {
	case c == '{':
		return d.object(depth + 1)
	case c == '[':
		return d.array(depth + 1)
	case c == '"':
		return d.text()
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	case c == 't':
		return true, d.literal("true")
	case c == 'f':
		return false, d.literal("false")
	case c == 'n':
		return nil, d.literal("null")
	}
	return nil, d.unexpected("a value")
}

func (d *decoder) literal(word string) bool {
	for i := range len(word) {
		if d.peek() != word[i] {
			return d.unexpected(word)
		}
		d.pos++
	}
	return true
}

func (d *decoder) enter(depth int) bool {
	if depth > MaxDepth {
		return d.fail(Depth, "nested deeper than "+strconv.Itoa(MaxDepth))
	}
	d.pos++
	d.space()
	return true
}

func (d *decoder) object(depth int) (any, bool) {
	if !d.enter(depth) {
		return nil, false
	}
	fields := map[string]any{}
	if d.peek() == '}' {
		d.pos++
		return fields, true
	}
	for {
		at := d.pos
		if d.peek() != '"' {
			return nil, d.unexpected("a key")
		}
		key, ok := d.text()
		if !ok {
			return nil, false
		}
		d.space()
		if d.peek() != ':' {
			return nil, d.unexpected("':'")
		}
		d.pos++
		d.space()
		d.path = append(d.path, segment{key: key, index: -1})
		if _, twice := fields[key]; twice {
			d.report(DuplicateKey, at, "the key occurs more than once")
		}
		value, ok := d.value(depth)
		if !ok {
			return nil, false
		}
		d.path = d.path[:len(d.path)-1]
		fields[key] = value
		if more, ok := d.next('}'); !ok {
			return nil, false
		} else if !more {
			return fields, true
		}
	}
}

func (d *decoder) array(depth int) (any, bool) {
	if !d.enter(depth) {
		return nil, false
	}
	items := []any{}
	if d.peek() == ']' {
		d.pos++
		return items, true
	}
	for {
		d.path = append(d.path, segment{index: len(items)})
		value, ok := d.value(depth)
		if !ok {
			return nil, false
		}
		d.path = d.path[:len(d.path)-1]
		items = append(items, value)
		if more, ok := d.next(']'); !ok {
			return nil, false
		} else if !more {
			return items, true
		}
	}
}

// next goes past a comma, or past the end of the array or object.
func (d *decoder) next(end byte) (more, ok bool) {
	d.space()
	switch d.peek() {
	case ',':
		d.pos++
		d.space()
		return true, true
	case end:
		d.pos++
		return false, true
	}
	return false, d.unexpected("',' or '" + string(end) + "'")
}

func (d *decoder) text() (string, bool) {
	start := d.pos
	d.pos++
	for escaped := false; d.pos < len(d.data); d.pos++ {
		switch c := d.data[d.pos]; {
		case c == '"':
			d.pos++
			if !escaped {
				return string(d.data[start+1 : d.pos-1]), true
			}
			return d.unescape(start)
		case c == '\\':
			escaped = true
			d.pos++
		case c < ' ':
			return "", d.fail(Syntax, "a control character inside a string")
		}
	}
	d.pos = len(d.data)
	return "", d.unexpected("the end of a string")
}

// unescape leaves the rare case to the standard library.
func (d *decoder) unescape(start int) (string, bool) {
	var s string
	if err := json.Unmarshal(d.data[start:d.pos], &s); err != nil {
		d.pos = start
		return "", d.fail(Syntax, "an invalid escape inside a string")
	}
	return s, true
}

func (d *decoder) number() (any, bool) {
	start := d.pos
	if d.peek() == '-' {
		d.pos++
	}
	if d.peek() == '0' {
		d.pos++
	} else if !d.digits() {
		return nil, d.unexpected("a digit")
	}
	integer := true
	if d.peek() == '.' {
		integer = false
		d.pos++
		if !d.digits() {
			return nil, d.unexpected("a digit")
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		integer = false
		d.pos++
		if c := d.peek(); c == '+' || c == '-' {
			d.pos++
		}
		if !d.digits() {
			return nil, d.unexpected("a digit")
		}
	}
	return number(string(d.data[start:d.pos]), integer), true
}

func (d *decoder) digits() bool {
	start := d.pos
	for c := d.peek(); c >= '0' && c <= '9'; c = d.peek() {
		d.pos++
	}
	return d.pos > start
}

// number never expands a number: 1e999999 in nine bytes would be a megabyte as an exact number. Beyond the range of a
// float64 the nearest one is used, which keeps what schemas ask about: the sign, and whether it is whole.
func number(text string, integer bool) any {
	if integer {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	f, _ := strconv.ParseFloat(text, 64) // the only possible error is the range, seen in the value
	switch {
	case math.IsInf(f, 1):
		return math.MaxFloat64
	case math.IsInf(f, -1):
		return -math.MaxFloat64
	case f == 0 && strings.ContainsAny(mantissa(text), "123456789"):
		return math.Copysign(math.SmallestNonzeroFloat64, f)
	}
	return f
}

func mantissa(text string) string {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		return text[:i]
	}
	return text
}
