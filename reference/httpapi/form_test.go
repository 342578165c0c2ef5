package httpapi

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func query(raw string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.URL.RawQuery = raw
	return r
}

func TestInt(t *testing.T) {
	for raw, want := range map[string]struct {
		n    int
		kind string
	}{
		"":                        {20, ""},
		"n=1":                     {1, ""},
		"n=007":                   {7, ""},
		"n=-0":                    {20, "greater_than_equal"},
		"n=100":                   {100, ""},
		"n=101":                   {20, "less_than_equal"},
		"n=0":                     {20, "greater_than_equal"},
		"n=":                      {20, "int_parsing"},
		"n=-99999999999999999999": {20, "greater_than_equal"},
		"n=99999999999999999999":  {20, "less_than_equal"},
		"n=1.0":                   {20, "int_parsing"},
		"n=%31":                   {1, ""},
		"n=٣":                     {20, "int_parsing"},
		"n=2&n=3":                 {20, "value_error"},
		"&&n=4&":                  {4, ""},
		"N=5":                     {20, ""},
	} {
		var f Form
		require.Equal(t, want.n, f.Query(query(raw)).Int("n", 20, 1, 100), raw)
		if want.kind == "" {
			require.NoError(t, f.Err(), raw)
			continue
		}
		require.Len(t, f.problems, 1, raw)
		require.Equal(t, want.kind, f.problems[0].Type, raw)
		require.Equal(t, []any{"query", "n"}, f.problems[0].Loc)
	}
	var f Form
	require.Zero(t, f.Query(query("n=9223372036854775808")).Int("n", 0, 0, math.MaxInt))
	require.Equal(t, "int_parsing_size", f.problems[0].Type)
}

// FuzzQuery holds that whatever is sent, what is read is within the bounds, and what is wrong has a place.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"limit=1", "limit=%zz", "limit=1;b=2&status=A,B", "=&=&a", "limit=-&b=TRUE", "limit=\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var form Form
		q := form.Query(query(raw))
		n := q.Int("limit", 20, 1, 100)
		require.True(t, n >= 1 && n <= 100)
		for _, choice := range Choices(q, "status", []string{"A", "B"}) {
			require.Contains(t, []string{"A", "B"}, choice)
		}
		q.Bool("b")
		for _, problem := range form.problems {
			require.Equal(t, "query", problem.Loc[0])
		}
	})
}

// FuzzBody holds that no body breaks the reader, that what is wrong has a place, and that no value is repeated.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{}`, `[]`, `{"o":{"s":1}}`, `{"o":1,"l":[{"s":"x"},2]}`, `{"s":""}`, "{\"s\":\"\xff\"}", `{"s":"a"} x`, `{"a":1e999}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var form Form
		fields, err := form.Body(httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body))), true)
		require.NoError(t, err)
		fields.Text("s")
		Get[bool](fields.Object("o"), "s", "boolean")
		fields.Object("o").Require("m")
		Choice(fields, "c", []string{"a"})
		for _, item := range fields.Objects("l") {
			item.String("s")
			item.Require("s")
		}
		fields.Scalars().Int("n", 1, 1, 2)
		_, err = json.Marshal(form.problems)
		require.NoError(t, err)
		for _, problem := range form.problems {
			require.Equal(t, "body", problem.Loc[0])
		}
	})
}
