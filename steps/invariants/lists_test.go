package invariants

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRowsOfLists judges histories that end with a list, one second after the previous exchange.
func TestRowsOfLists(t *testing.T) {
	const (
		twice   = `no list has a revision twice`
		surplus = `no deployment has more revisions than requests that may have created one`
		ref     = `{"source_revision_config":{"repo_ref":"next"}}`
		nothing = `{"source_revision_config":{"repo_ref":null}}`
	)
	created := func(h *history) { h.created(`{}`, two) }
	updated := func(body string, status int) func(h *history) {
		return func(h *history) { h.patches(body, status, `{}`) }
	}
	lists := func(ids ...string) func(h *history) {
		rows := `{"id":"` + strings.Join(ids, `"},{"id":"`) + `"}`
		return func(h *history) { h.reads(deployment+"/revisions", `{"resources":[`+rows+`],"offset":2}`) }
	}
	latest := func(id string) func(h *history) {
		return func(h *history) { h.reads(deployment, `{"id":"`+one+`","latest_revision_id":"`+id+`"}`) }
	}
	for _, row := range []struct {
		name, step string
		history    []func(h *history)
		fails      bool
	}{
		{"different revisions", twice, []func(*history){lists(two, three)}, false},
		{"one revision twice", twice, []func(*history){lists(two, two)}, true},
		{"one revision twice, in another spelling", twice, []func(*history){lists(two, strings.ToUpper(two))}, true},

		{"the first revision", surplus, []func(*history){created, lists(two)}, false},
		{"that of an update", surplus, []func(*history){created, updated(ref, 200), lists(two, three)}, false},
		{"that of an update without a response", surplus, []func(*history){created, updated(ref, 502), lists(two, three)}, false},
		{"that of a refused update", surplus, []func(*history){created, updated(ref, 409), lists(two, three)}, true},
		{"that of an update that sets nothing", surplus, []func(*history){created, updated(nothing, 200), lists(two, three)}, true},
		{"that of an update with a wrong type", surplus, []func(*history){created,
			updated(`{"source_revision_config":{"repo_ref":42}}`, 200), lists(two, three)}, false},
		{"that of a later update", surplus, []func(*history){created, lists(two, three), updated(ref, 200)}, true},
		{"that of a refused update, as the latest", surplus, []func(*history){created, latest(two), updated(ref, 409), latest(three)}, true},
		{"that of an update, as the latest", surplus, []func(*history){created, latest(two), updated(ref, 200), latest(three)}, false},
		{"that of an update which may be missing in a recording", surplus, []func(*history){
			func(h *history) { h.target.Recorded = true }, created, lists(two, three)}, false},
		{"the creation is unknown", surplus, []func(*history){lists(two, three)}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHistory(t)
			for _, part := range row.history {
				part(h)
			}
			_, o := h.judged(row.step)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}
