package strictjson

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	for text, want := range map[string]any{
		`null`: nil, ` true `: true, "\tfalse\r\n": false,
		`0`: int64(0), `-0`: int64(0), `-12`: int64(-12), `9223372036854775807`: int64(math.MaxInt64),
		`9223372036854775808`: 9223372036854775808.0, `1.5`: 1.5, `1e2`: 100.0, `1E+2`: 100.0, `-1.25e-1`: -0.125, `1.0`: 1.0,
		`1e400`: math.MaxFloat64, `-1e400`: -math.MaxFloat64, `1e999999999999`: math.MaxFloat64,
		`1e-400`: math.SmallestNonzeroFloat64, `-1e-400`: -math.SmallestNonzeroFloat64, `0e-400`: 0.0, `0.0`: 0.0,
		`""`: "", `"a"`: "a", `"é☃𝄞"`: "é☃𝄞", `"\u00e9\n\"\\\/"`: "é\n\"\\/", `"\ud834\udd1e"`: "𝄞", `"\ud834"`: "\uFFFD",
		`[]`: []any{}, `[ 1 , "a" , null ]`: []any{int64(1), "a", nil}, `[[],[[]]]`: []any{[]any{}, []any{[]any{}}},
		`{}`: map[string]any{}, `{"a":{"b":[1]} , "":2}`: map[string]any{"a": map[string]any{"b": []any{int64(1)}}, "": int64(2)},
	} {
		got := Decode([]byte(text))
		assert.True(t, got.Decoded, text)
		assert.Empty(t, got.Faults, text)
		assert.Equal(t, want, got.Value, text)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		text   string
		kind   Kind
		offset int
		detail string
	}{
		{``, Syntax, 0, "the text ends where a value is expected"},
		{`  `, Syntax, 2, "the text ends where a value is expected"},
		{`<html>`, Syntax, 0, "'<' where a value is expected"},
		{`{`, Syntax, 1, "the text ends where a key is expected"},
		{`{"a"}`, Syntax, 4, "'}' where ':' is expected"},
		{`{"a":}`, Syntax, 5, "'}' where a value is expected"},
		{`{"a":1,}`, Syntax, 7, "'}' where a key is expected"},
		{`{a:1}`, Syntax, 1, "'a' where a key is expected"},
		{`{"a":1 "b":2}`, Syntax, 7, "'\"' where ',' or '}' is expected"},
		{`[1,]`, Syntax, 3, "']' where a value is expected"},
		{`[1 2]`, Syntax, 3, "'2' where ',' or ']' is expected"},
		{`[1`, Syntax, 2, "the text ends where ',' or ']' is expected"},
		{`"a`, Syntax, 2, "the text ends where the end of a string is expected"},
		{`"a\`, Syntax, 3, "the text ends where the end of a string is expected"},
		{`"a\"`, Syntax, 4, "the text ends where the end of a string is expected"},
		{`"\x"`, Syntax, 0, "an invalid escape inside a string"},
		{"\"a\nb\"", Syntax, 2, "a control character inside a string"},
		{`tru`, Syntax, 3, "the text ends where true is expected"},
		{`nul1`, Syntax, 3, "'1' where null is expected"},
		{`-`, Syntax, 1, "the text ends where a digit is expected"},
		{`1.`, Syntax, 2, "the text ends where a digit is expected"},
		{`1e`, Syntax, 2, "the text ends where a digit is expected"},
		{`.5`, Syntax, 0, "'.' where a value is expected"},
		{`+1`, Syntax, 0, "'+' where a value is expected"},
		{"\x00", Syntax, 0, `'\x00' where a value is expected`},
		{"\uFEFF{}", Syntax, 0, `'\ufeff' where a value is expected`},
		{`01`, Trailing, 1, "more follows the JSON value"},
		{`{} {}`, Trailing, 3, "more follows the JSON value"},
		{"1\x00", Trailing, 1, "more follows the JSON value"},
		{"[\"ab\xffc\"]", Encoding, 4, "invalid UTF-8"},
		{strings.Repeat("[", MaxDepth+1), Depth, MaxDepth, "nested deeper than 512"},
		{strings.Repeat(`{"a":`, MaxDepth+1), Depth, 5 * MaxDepth, "nested deeper than 512"},
	} {
		got := Decode([]byte(c.text))
		assert.Equal(t, []Fault{{Kind: c.kind, Offset: c.offset, Detail: c.detail}}, got.Faults, "%.40q", c.text)
		assert.Equal(t, c.kind == Trailing, got.Decoded, "%.40q", c.text)
	}
}

func TestKeysThatOccurTwice(t *testing.T) {
	got := Decode([]byte(`{"a":[{"x/y~":1,"x/y~":2}],"a":3}`))
	require.True(t, got.Decoded)
	assert.Equal(t, map[string]any{"a": int64(3)}, got.Value, "the last one counts")
	assert.Equal(t, []Fault{
		{Kind: DuplicateKey, Pointer: "/a/0/x~1y~0", Offset: 16, Detail: "the key occurs more than once"},
		{Kind: DuplicateKey, Pointer: "/a", Offset: 27, Detail: "the key occurs more than once"},
	}, got.Faults)

	many := Decode([]byte("{" + strings.Repeat(`"a":1,`, 1000) + `"a":1}`))
	assert.Len(t, many.Faults, maxFaults)
	assert.Equal(t, []Fault{{Kind: Syntax, Offset: 13, Detail: "'!' where ',' or '}' is expected"}}, Decode([]byte(`{"a":1,"a":2 !`)).Faults,
		"what is no JSON has no keys")
}

// FuzzDecode holds the decoder to the standard library: both take the same texts, but for the faults that only this one
// looks for, and both find the same value in them.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e3,"x\u0041",null,true]}`, `[`, `{"a":1,"a":2}`, "\xff", `1 2`, `"\ud800"`, `[1e400]`, `"\`, `{"":""}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := Decode(data)
		kinds := map[Kind]bool{}
		for _, fault := range got.Faults {
			kinds[fault.Kind] = true
			if fault.Offset < 0 || fault.Offset > len(data) {
				t.Fatalf("offset %d of %d", fault.Offset, len(data))
			}
		}
		if kinds[Encoding] == utf8.Valid(data) {
			t.Fatalf("encoding fault %v in %q", kinds[Encoding], data)
		}
		if kinds[Encoding] || kinds[Depth] {
			return
		}
		if sound := got.Decoded && !kinds[Trailing]; sound != json.Valid(data) {
			t.Fatalf("decoded %v, the standard library says %v: %q", sound, json.Valid(data), data)
		}
		if got.Decoded && len(got.Faults) == 0 {
			sameValue(t, data, got.Value)
		}
	})
}

func sameValue(t *testing.T, data []byte, got any) {
	var want any
	if err := json.Unmarshal(data, &want); err != nil {
		return // a number out of range
	}
	a, errA := json.Marshal(floats(want))
	b, errB := json.Marshal(floats(got))
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Fatalf("%s is not %s (%v, %v)", b, a, errA, errB)
	}
}

// floats gives numbers the type that the standard library has, and leaves out what differs on purpose: the sign of zero, and
// that what is not zero never becomes zero.
func floats(value any) any {
	switch v := value.(type) {
	case int64:
		return float64(v)
	case float64:
		if math.Abs(v) <= math.SmallestNonzeroFloat64 {
			return 0.0
		}
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = floats(v[k])
		}
	}
	return value
}
