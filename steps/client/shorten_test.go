package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

func TestShortened(t *testing.T) {
	long, other := strings.Repeat("é\\u0041", longText/8+1), strings.Repeat("é\\u0041", longText/8)+"b\\n234567"
	empty := strings.Repeat("{},", longList)
	row := `{"id":"8e3fdd51-6914-4d92-b1d0-c1d0e658670a"}`
	for name, c := range map[string]struct{ body, want string }{
		"small":              {`{"a":[1,"b",{"c":null}],"d":{}}`, `{"a":[1,"b",{"c":null}],"d":{}}`},
		"quotes and escapes": {`["\"],[\\",""]`, `["\"],[\\",""]`},
		"list of one more":   {`[` + empty + `{}]`, `[` + strings.TrimSuffix(empty, ",") + `]`},
		"rows with an id":    {`[` + empty + `7,` + row + `,8,[],` + row + `]`, `[` + empty + row + `,` + row + `]`},
		"two lists":          {`[[` + empty + `1],[2,3]]`, `[[` + strings.TrimSuffix(empty, ",") + `],[2,3]]`},
		"a long object":      {`{"a":{` + strings.Repeat(`"a":1,`, longList) + `"b":2}}`, `{"a":{` + strings.Repeat(`"a":1,`, longList) + `"b":2}}`},
		"blanks":             {" [ 1 ,\t-2.5e3 ]\r\n", "[1,-2.5e3]"},
		"scalar":             {`"x"`, `"x"`},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, json.Valid([]byte(c.body)))
			assert.Equal(t, c.want, string(shortened([]byte(c.body))))
		})
	}
	digits := strings.Repeat("1", longText) + "."
	short := shortened([]byte(`{"n":` + digits + `23,"x":1}`))
	require.True(t, json.Valid(short), "%s", short)
	assert.Less(t, len(short), keptText+200)
	assert.NotEqual(t, short, shortened([]byte(`{"n":`+digits+`24,"x":1}`)))
	assert.EqualValues(t, 1, gjson.GetBytes(short, "x").Int(), "what stands after a long number")
	one, two := shortened([]byte(`{"t":"`+long+`","x":1}`)), shortened([]byte(`{"t":"`+other+`","x":1}`))
	require.True(t, json.Valid(one), "%s", one)
	assert.Less(t, len(one), keptText+200)
	assert.Equal(t, one, shortened([]byte(`{"t":"`+long+`","x":1}`)))
	assert.NotEqual(t, gjson.GetBytes(one, "t").String(), gjson.GetBytes(two, "t").String(), "texts that differ stay different")
	assert.EqualValues(t, 1, gjson.GetBytes(one, "x").Int())
}

// FuzzShortened: what is kept is JSON of the same form.
func FuzzShortened(f *testing.F) {
	f.Add([]byte(`{"a":[1,"b\"]",{"c":null}],"d":{}}`))
	f.Add([]byte(` [ [ ] , { } ] `))
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) || len(body) > large {
			return
		}
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, body))
		require.Equal(t, compact.String(), string(shortened(body)), "nothing of it is long")
	})
}

func TestHeadersOfAnAnswerAreBounded(t *testing.T) {
	few := http.Header{"A": {"1", "2"}, "Content-Type": {"text/plain"}}
	assert.Equal(t, few, headersOf(few))
	many := http.Header{"Retry-After": {"3"}, "Www-Authenticate": {"Basic"}, "A": slices.Repeat([]string{"v"}, 20_000)}
	for i := range 10_000 {
		many[fmt.Sprintf("B%05d", i)] = []string{"v"}
	}
	kept := headersOf(many)
	assert.Len(t, kept, keptNames+3, "the first by name, two that are looked at, and how many there were")
	assert.Equal(t, "3", kept.Get("Retry-After"))
	assert.Equal(t, []string{"Basic"}, kept["Www-Authenticate"])
	assert.Equal(t, []string{"10003 names of headers in all"}, kept[leftOut])
	assert.Len(t, kept["A"], keptValues+1)
	assert.Equal(t, "... (20000 in all)", kept["A"][keptValues])
	assert.Len(t, many["A"], 20_000, "the map of the transport stays as it is")
}
