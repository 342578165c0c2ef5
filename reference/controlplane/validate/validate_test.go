package validate

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

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
		"n=-99999999999999999999": {20, "greater_than_equal"},
		"n=99999999999999999999":  {20, "less_than_equal"},
		"n=1.0":                   {20, "int_parsing"},
		"n=%31":                   {1, ""},
		"n=%3":                    {20, "int_parsing"},
		"n=٣":                     {20, "int_parsing"},
		"n=2&n=3":                 {20, "value_error"},
		"n=x&n=3":                 {20, "value_error"},
		"&&n=4&":                  {4, ""},
		"N=5":                     {20, ""},
	} {
		var p Problems
		require.Equal(t, want.n, ParseQuery(raw, &p).Int("n", 20, 1, 100), raw)
		if want.kind == "" {
			require.NoError(t, p.Err(), raw)
			continue
		}
		require.Len(t, p.List(), 1, raw)
		require.Equal(t, want.kind, p.List()[0].Type, raw)
		require.Equal(t, []any{"query", "n"}, p.List()[0].Loc)
	}
	var p Problems
	require.Zero(t, ParseQuery("n=9223372036854775808", &p).Int("n", 0, 0, math.MaxInt))
	require.Equal(t, "int_parsing_size", p.List()[0].Type)
}

func TestProblemsAreNoMirror(t *testing.T) {
	var p Problems
	p.Add([]any{"query", "x"}, "t", "m", strings.Repeat("ä", 1000))
	p.Add([]any{"body", "x"}, "t", "m", map[string]any{"secret": "s"})
	p.Add([]any{"body", "x"}, "t", "m", json.Number("3"))
	require.Equal(t, longestInput+1, utf8.RuneCountInString(p.List()[0].Input.(string)))
	require.Nil(t, p.List()[1].Input)
	require.EqualValues(t, 3, p.List()[2].Input)
	require.ErrorContains(t, p.Err(), "m; m; m")
}

func TestOneOf(t *testing.T) {
	require.Equal(t, "'a'", oneOf([]string{"a"}))
	require.Equal(t, "'a' or 'b'", oneOf([]string{"a", "b"}))
	require.Equal(t, "'a', 'b' or 'c'", oneOf([]string{"a", "b", "c"}))
}

// FuzzQuery holds that whatever is sent, what is read is within the bounds, and what is wrong is named.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"limit=1", "limit=%zz", "limit=1;b=2&status=A,B", "=&=&a", "limit=-&b=TRUE", "limit=\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var p Problems
		q := ParseQuery(raw, &p)
		n := q.Int("limit", 20, 1, 100)
		require.True(t, n >= 1 && n <= 100)
		for _, choice := range q.Choices("status", []string{"A", "B"}) {
			require.Contains(t, []string{"A", "B"}, choice)
		}
		q.Bool("b")
		_, err := json.Marshal(p.List())
		require.NoError(t, err)
	})
}

// FuzzBody holds that no body breaks the reader, and that a secret's value is never repeated.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{}`, `[]`, `{"o":{"s":1}}`, `{"o":1,"l":[{"s":"x"},2]}`, `{"s":""}`, "{\"s\":\"\xff\"}", `{"s":"a"} x`, `{"a":1e999}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var p Problems
		fields := Body(body, &p)
		fields.Text("s")
		fields.Object("o").Bool("s")
		fields.Object("o").Missing("m")
		fields.Choice("c", []string{"a"})
		for _, item := range fields.Secrets("l") {
			item.String("s")
			item.Missing("s")
		}
		_, err := json.Marshal(fields.Others("s"))
		require.NoError(t, err)
		_, err = json.Marshal(p.List())
		require.NoError(t, err)
		for _, problem := range p.List() {
			require.NotEmpty(t, problem.Loc)
			if problem.Loc[0] == "body" && len(problem.Loc) > 1 && problem.Loc[1] == "l" {
				require.Nil(t, problem.Input)
			}
		}
	})
}
