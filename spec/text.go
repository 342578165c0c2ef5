package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting of arrays and objects in a response. Deeper nesting violates the contract (keyword
// "depth").
const MaxDepth = 512

// MaxValues is the maximum number of JSON values in a response. A response with more violates the contract (keyword
// "values"): each value takes two bytes to send and a hundred once it is decoded.
const MaxValues = 50_000

// maxDuplicates bounds the violations of a text that repeats one key a million times.
const maxDuplicates = 16

// Bounded reports whether a JSON text is within both bounds. For a text that is not JSON the result has no meaning.
func Bounded(text []byte) bool {
	_, keyword, _ := measure(text)
	return keyword == ""
}

// measure counts the values of a JSON text. If the text exceeds a bound, measure stops and returns the keyword and the
// offset. Every value except the outermost follows a comma or is the first of its array or object.
func measure(text []byte) (values int, keyword string, at int) {
	values = 1
	depth, quoted, opened := 0, false, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted:
			quoted = c != '"'
			if c == '\\' {
				i++
			}
			continue
		case c == ' ', c == '\t', c == '\n', c == '\r':
			continue
		case c == ',', opened && c != ']' && c != '}':
			values++
		}
		quoted, opened = c == '"', c == '[' || c == '{'
		if opened {
			depth++
		} else if c == ']' || c == '}' {
			depth--
		}
		switch {
		case depth > MaxDepth:
			return values, "depth", i
		case values > MaxValues:
			return values, "values", i
		}
	}
	return values, "", 0
}

var expectedBound = map[string]string{
	"depth":  fmt.Sprintf("nesting of at most %d levels", MaxDepth),
	"values": fmt.Sprintf("at most %d JSON values, which is what the suite judges", MaxValues),
}

// decode returns the JSON value of a text: nil, bool, string, int64, float64, []any or map[string]any. It also returns
// the violations of the text, which encoding/json does not report: it replaces invalid UTF-8, keeps the last of several equal
// keys, and stops after the first value. A text that is not JSON or exceeds a bound is not decoded.
func decode(body []byte) (value any, wrong []Violation, decoded bool) {
	if !utf8.Valid(body) {
		return nil, []Violation{textFault(body, "encoding", "UTF-8", "invalid UTF-8", invalidUTF8(body))}, false
	}
	values, keyword, at := measure(body)
	if keyword == "values" { // measure counts commas even if the text is not JSON
		if err := json.Unmarshal(body, new(json.RawMessage)); err != nil {
			return nil, []Violation{notJSON(body, err)}, false
		}
	}
	if keyword != "" {
		return nil, []Violation{textFault(body, keyword, expectedBound[keyword], "more", at)}, false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, []Violation{notJSON(body, err)}, false
	}
	kept := 0
	value = plain(value, &kept)
	if kept < values { // a key that occurs twice loses values
		f := &finder{Decoder: json.NewDecoder(bytes.NewReader(body)), body: body}
		f.value()
		wrong = f.found
	}
	if rest := bytes.TrimLeft(body[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		wrong = append(wrong, textFault(body, "trailing", "nothing after the JSON value", "more", len(body)-len(rest)))
	}
	return value, wrong, true
}

func notJSON(body []byte, err error) Violation {
	at, detail := len(body), "the text ends too early"
	if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		at, detail = int(syntax.Offset)-1, syntax.Error()
	}
	return textFault(body, "json", "JSON", detail, at)
}

func textFault(body []byte, keyword, expected, detail string, at int) Violation {
	actual := fmt.Sprintf("%s at byte %d: %s", detail, at, excerptAt(body, at))
	return Violation{Keyword: keyword, Expected: expected, Actual: actual}
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8. There must be one.
func invalidUTF8(text []byte) (at int) {
	for {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
}

// plain returns a value with numbers of types that schemas can judge, and counts the values.
func plain(value any, count *int) any {
	*count++
	switch v := value.(type) {
	case json.Number:
		return numberOf(v.String())
	case []any:
		for i := range v {
			v[i] = plain(v[i], count)
		}
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key], count)
		}
	}
	return value
}

// finder finds keys that occur twice in an object. Its text must begin with a JSON value.
type finder struct {
	*json.Decoder
	body  []byte
	way   []string // location of the current value
	found []Violation
}

func (f *finder) value() {
	token, _ := f.Token()
	opened, _ := token.(json.Delim)
	if opened == 0 {
		return
	}
	known := map[string]bool{}
	for i := 0; f.More(); i++ {
		step := strconv.Itoa(i)
		if opened == '{' {
			token, _ := f.Token()
			step, _ = token.(string)
		}
		f.way = append(f.way, step)
		if known[step] && len(f.found) < maxDuplicates {
			at := int(f.InputOffset()) - 1 // the quotation mark behind it
			fault := textFault(f.body, "duplicate-key", "each key once in an object", "the key occurs again", at)
			fault.Pointer = pointerTo(f.way)
			f.found = append(f.found, fault)
		}
		known[step] = true
		f.value()
		f.way = f.way[:len(f.way)-1]
	}
	_, _ = f.Token() // the end
}

// numberOf returns a number as int64 or float64. It never expands it: 1e999999 in nine bytes would be a megabyte as an
// exact number. Beyond the range of a float64 it returns the nearest one, which keeps what schemas check: the sign, and
// whether the number is whole.
func numberOf(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(text, 64) // the only possible error is the range, seen in the value
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	switch {
	case math.IsInf(f, 0):
		return math.Copysign(math.MaxFloat64, f)
	case f == 0 && strings.ContainsAny(mantissa, "123456789"):
		return math.Copysign(math.SmallestNonzeroFloat64, f)
	}
	return f
}
