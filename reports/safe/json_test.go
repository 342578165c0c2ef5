package safe_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports/safe"
)

func TestCutJSON(t *testing.T) {
	page := `{"offset": 1, "resources": [{"id": "a", "status": "DEPLOYED"}, {"id": "b"}]}`
	for _, c := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"it fits", page, 100, `{"offset":1,"resources":[{"id":"a","status":"DEPLOYED"},{"id":"b"}]}`},
		{"the last element is omitted", page, 63, `{"offset":1,"resources":[{"id":"a","status":"DEPLOYED"},…]}`},
		{"members within an element are omitted", page, 45, `{"offset":1,"resources":[{"id":"a",…},…]}`},
		{"all elements are omitted", page, 30, `{"offset":1,"resources":[…]}`},
		{"the second member is omitted", page, 20, `{"offset":1,…}`},
		{"all members are omitted", page, 5, `{…}`},
		{"no room for brackets", page, 2, `…`},
		{"equal elements", `["abcdef",["abcdef",1],["abcdef",1]]`, 26, `["abcdef",["abcdef",1],…]`},
		{"the first value is a long string", `{"detail":"not found: abcdefghij","a":1}`, 27, `{"detail":"not found:…",…}`},
		{"a long string after another value", `[1,"abcdefghij"]`, 8, `[1,…]`},
		{"a string with escapes", `"\u003c\u003c\u003c\u003c"`, 5, `"<<…"`},
		{"a number is not cut", `[1234567890]`, 8, `[…]`},
		{"a large number keeps its digits", `[ 1e400, 12345678901234567890 ]`, 50, `[1e400,12345678901234567890]`},
		{"not JSON", `{"a": 1, "b": tru`, 10, `{"a": 1,…`},
		{"characters of several bytes", `["ééé",1]`, 9, `["ééé",1]`},
		{"bytes that are not UTF-8", "[\"\xff\",12345]", 8, `["�",…]`},
		{"no text", "", 5, ""},
	} {
		assert.Equal(t, c.want, safe.CutJSON(c.in, c.limit), c.name)
	}
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	assert.Equal(t, "[[…]]", safe.CutJSON(deep, 10))
	assert.Equal(t, strings.Repeat("[", 9)+"…", safe.CutJSON(strings.Repeat("[", 20_000), 10), "too deep for JSON")
}

func FuzzCutJSON(f *testing.F) {
	f.Add(`{"a":[1,{"b":"cdefghijkl"},null],"c":"\u00e9\ud800"}`, uint8(12))
	f.Add("[\"\xff\",\"\\\"\"]", uint8(4))
	f.Fuzz(func(t *testing.T, in string, limit uint8) {
		n := max(int(limit), 1)
		out := safe.CutJSON(in, n)
		assert.True(t, utf8.ValidString(out))
		assert.LessOrEqual(t, utf8.RuneCountInString(out), n)
		if json.Valid([]byte(in)) && !strings.Contains(in, "…") && out != "…" {
			without := strings.ReplaceAll(strings.ReplaceAll(out, ",…", ""), "…", "")
			assert.True(t, json.Valid([]byte(without)), "it was cut within a value: %s", out)
		}
	})
}

func TestShortIDs(t *testing.T) {
	const a, b, c = "01a2289d-14d5-777b-a1fc-f94c9c5814a9", "01a2289d-14d5-777b-a1fc-f94c9c5914a9", "01a2289e-14d5-777b-a1fc-f94c9c5814a9"
	assert.Equal(t, 4, safe.IDDigits("GET /threads/"+a, a, strings.ToUpper(a), "x"))
	assert.Equal(t, 5, safe.IDDigits(a+" "+b))
	assert.Equal(t, safe.AllDigits, safe.IDDigits(a, c), "the last 12 digits are the same")
	assert.Equal(t, "/threads/…14a9/runs/…14a9", safe.LastDigits("/threads/"+a+"/runs/"+b, 4))
	assert.Equal(t, a, safe.LastDigits(a, safe.AllDigits))
}
