package spec

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
		` true `: true, "\t-12\r\n": int64(-12), `9223372036854775807`: int64(math.MaxInt64), `9223372036854775808`: 9223372036854775808.0,
		`1.0`: 1.0, `-1.25e-1`: -0.125, `1e400`: math.MaxFloat64, `-1e999999999999`: -math.MaxFloat64,
		`1e-400`: math.SmallestNonzeroFloat64, `-1e-400`: -math.SmallestNonzeroFloat64, `0e-400`: 0.0,
		`"\u00e9\n\"\\\/"`: "é\n\"\\/", `"\ud834\udd1e"`: "𝄞", `"\ud834"`: "\uFFFD",
		`{"a":{"b":[1,null]} , "":2}`: map[string]any{"a": map[string]any{"b": []any{int64(1), nil}}, "": int64(2)},
	} {
		got, wrong, decoded := decode([]byte(text))
		assert.True(t, decoded, text)
		assert.Empty(t, wrong, text)
		assert.Equal(t, want, got, text)
	}
}

func TestWhatIsWrongWithAText(t *testing.T) {
	for _, c := range []struct{ text, pointer, keyword, actual string }{
		{``, "", "json", `the text ends too early at byte 0: the end`},
		{`{"a":1,}`, "", "json", `invalid character '}' looking for beginning of object key string at byte 7: "{\"a\":1,}"`},
		{"\"a\nb\"", "", "json", `invalid character '\n' in string literal at byte 2: "\"a\nb\""`},
		{`{"a":1,"a":2 !`, "", "json", `invalid character '!' after object key:value pair at byte 13: "{\"a\":1,\"a\":2 !"`},
		{"\uFEFF{}", "", "json", "invalid character 'ï' looking for beginning of value at byte 0: \"\\ufeff{}\""},
		{`01`, "", "trailing", `more at byte 1: "01"`},
		{"1\u00a0", "", "trailing", "more at byte 1: \"1\\u00a0\""},
		{"[\"ab\xffc\"]", "", "encoding", `invalid UTF-8 at byte 4: "[\"abc\"]"`},
		{`{"b":[{"x/y~":1,"x/y~":2}]}`, "/b/0/x~1y~0", "duplicate-key", `the key occurs again at byte 21: "[{\"x/y~\":1,\"x/y~\":2}]}"`},
	} {
		_, wrong, decoded := decode([]byte(c.text))
		require.Len(t, wrong, 1, c.text)
		assert.Equal(t, []string{c.pointer, c.keyword, c.actual}, []string{wrong[0].Pointer, wrong[0].Keyword, wrong[0].Actual}, c.text)
		assert.Equal(t, c.keyword == "trailing" || c.keyword == "duplicate-key", decoded, c.text)
	}
}

// TestBounds compares the number of values and the depth with those of a decoder.
func TestBounds(t *testing.T) {
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(`{"a":0},`, n/2), ",") + "]" }
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	padding := `"` + strings.Repeat(" [{,", MaxValues) + `\","`
	for text, want := range map[string]bool{
		list(MaxValues - 2): true, list(MaxValues): false, nested(MaxDepth): true, nested(MaxDepth + 1): false,
		strings.ReplaceAll(`{ "a,\\" : % , "b":[ [] , {}]}`, "%", padding): true,
		"[" + strings.Repeat("[ ],", MaxValues-2) + "{}]":                  true,
		"[" + strings.Repeat("[ ],", MaxValues-1) + "{}]":                  false,
	} {
		require.True(t, json.Valid([]byte(text)))
		assert.Equal(t, want, Bounded([]byte(text)), "%.60s", text)
		_, wrong, decoded := decode([]byte(text))
		assert.Equal(t, want, decoded && len(wrong) == 0, "%.60s", text)
	}
	_, wrong, _ := decode([]byte("{" + strings.Repeat(`"a":1,`, 1000) + `"a":1}`))
	assert.Len(t, wrong, maxDuplicates)
	_, wrong, _ = decode([]byte(strings.Repeat(",", MaxValues)))
	assert.Equal(t, "json", wrong[0].Keyword, "not of too many values")
	key := strings.Repeat("é", 2*maxPointer)
	_, wrong, _ = decode([]byte(`{"` + key + `":{"` + key + `":{"` + key + `":{"a":1,"a":2}}}}`))
	require.Len(t, wrong, 1)
	assert.Less(t, len(wrong[0].Pointer), 2*maxPointer, "keys may be as long as the text")
	assert.True(t, utf8.ValidString(wrong[0].Pointer))
}

// FuzzDecode compares the decoder with the standard library: except for the checks that only this one makes, both accept
// the same texts and return the same value.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e3,"x\u0041",null,true]}`, `[`, `{"a":1,"a":2}`, "\xff", `1 2`, `"\ud800"`, `[1e400]`, `"\`, `{"":""}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, wrong, decoded := decode(data)
		kinds := map[string]bool{}
		for _, v := range wrong {
			kinds[v.Keyword] = true
		}
		if kinds["encoding"] == utf8.Valid(data) {
			t.Fatalf("encoding fault %v in %q", kinds["encoding"], data)
		}
		if kinds["encoding"] || !Bounded(data) {
			return
		}
		if sound := decoded && !kinds["trailing"]; sound != json.Valid(data) {
			t.Fatalf("decoded %v, the standard library says %v: %q", sound, json.Valid(data), data)
		}
		var want any
		if len(wrong) > 0 || json.Unmarshal(data, &want) != nil { // a number may be out of range
			return
		}
		a, errA := json.Marshal(floats(want))
		b, errB := json.Marshal(floats(got))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s is not %s (%v, %v)", b, a, errA, errB)
		}
	})
}

// floats converts numbers to float64 as the standard library does, and removes intended differences: the sign of zero, and
// tiny numbers that decode as the smallest float64 instead of zero.
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
