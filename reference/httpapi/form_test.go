package httpapi

import (
	"encoding/json"
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

// FuzzQuery checks that values are within their limits and that problems have a place in the query.
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

// FuzzBody checks that no body makes the reader panic and that problems have a place in the body.
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
