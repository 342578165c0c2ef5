package mutants

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnother(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{`true`, `false`}, {`7`, `8`}, {`"DEPLOYED"`, `"DEPLOYEA"`}, {`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:01Z"`}, {`"a1"`, `"a2"`}, {`""`, `"x"`},
		{`[1,2]`, `[1]`}, {`[]`, `[]`}, {`{"a":1}`, `{}`}, {`null`, `null`},
	} {
		value, ok := decoded([]byte(c.value))
		require.True(t, ok)
		text, err := json.Marshal(another(value))
		require.NoError(t, err)
		assert.JSONEq(t, c.want, string(text), c.value)
	}
}

func TestSlots(t *testing.T) {
	value, ok := decoded([]byte(`{"resources":[{"id":"a","status":"X"},{"id":"b"},7],"offset":0}`))
	require.True(t, ok)
	found := slots(value, place{"resources", "*", "status"}, "path")
	require.Len(t, found, 1)
	assert.Equal(t, "path a", found[0].owner)
	assert.Equal(t, "X", found[0].value())
	assert.Empty(t, slots(value, place{"offset", "x"}, ""))
	assert.Empty(t, slots(value, place{"*"}, ""))
}

// TestRules applies each rule to two objects in turn.
func TestRules(t *testing.T) {
	for name, want := range map[string][]string{
		"dropped":   {`{}`, `{}`, `{}`, `{}`},
		"null":      {`{"v":null}`, `{"v":null}`, `{"v":null}`, `{"v":null}`},
		"another":   {`{"v":2}`, `{"v":6}`, `{"v":3}`, `{"v":3}`},
		"sometimes": {`{"v":1}`, `{"v":5}`, `{"v":2}`, `{"v":3}`},
		"foreign":   {`{"v":1}`, `{"v":1}`, `{"v":5}`, `{"v":5}`},
		"stale":     {`{"v":1}`, `{"v":5}`, `{"v":1}`, `{"v":1}`},
		"late":      {`{"v":1}`, `{"v":5}`, `{"v":1}`, `{"v":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			var apply change
			for _, rule := range changes {
				if rule.name == name {
					apply = rule.make()
				}
			}
			require.NotNil(t, apply)
			for i, step := range []struct{ owner, body string }{{"a", `{"v":1}`}, {"b", `{"v":5}`}, {"a", `{"v":2}`}, {"a", `{"v":2}`}} {
				value, _ := decoded([]byte(step.body))
				for _, s := range slots(value, place{"v"}, step.owner) {
					apply(s)
				}
				text, err := json.Marshal(value)
				require.NoError(t, err)
				assert.JSONEq(t, want[i], string(text), "answer %d", i+1)
			}
		})
	}
}

func TestParameterRules(t *testing.T) {
	for name, want := range map[string]string{
		"ignored": "", "one-more": "v=1", "one-less": "v=-1", "zero-is-absent": "", "invalid-is-ignored": "v=0",
	} {
		for _, rule := range parameterChanges {
			if rule.name == name {
				r := httptest.NewRequest(http.MethodGet, "/?v=0", strings.NewReader(""))
				q := r.URL.Query()
				rule.with(q, "v")
				assert.Equal(t, want, q.Encode(), name)
			}
		}
	}
}
