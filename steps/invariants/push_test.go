package invariants

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestBuildOnPush judges histories that end with GET of a deployment, one second after the previous exchange.
func TestBuildOnPush(t *testing.T) {
	const (
		noTag = `no deployment has build_on_push true with a tag`
		set   = `each deployment shows the build_on_push that was set last`
		yes   = `"source_config":{"build_on_push":true}`
		no    = `"source_config":{"build_on_push":false}`
		tag   = `,"source_revision_config":{"repo_ref":"refs/tags/v1"}`
	)
	created := func(fields string) func(h *history) {
		return func(h *history) { h.created(`{`+fields+`}`, two) }
	}
	updated := func(fields string, status int) func(h *history) {
		return func(h *history) { h.patches(`{`+fields+`}`, status, `{}`) }
	}
	shows := func(fields string) func(h *history) {
		return func(h *history) { h.reads(deployment, `{"id":"`+one+`",`+fields+`}`) }
	}
	impatient := func(h *history) { h.target.Config.Patience = 2 * time.Second }
	for _, row := range []struct {
		name, step string
		history    []func(h *history)
		fails      bool
	}{
		{"a tag with false", noTag, []func(*history){created(no + tag), shows(no + tag)}, false},
		{"a branch with true", noTag, []func(*history){created(yes), shows(yes)}, false},
		{"a tag with true", noTag, []func(*history){created(no), updated(no+tag, 200), shows(yes + tag)}, true},
		{"a tag with true, within patience", noTag, []func(*history){impatient, created(no), updated(no+tag, 200), shows(yes + tag)}, false},
		{"a tag with true, after a write without a response", noTag, []func(*history){created(no), updated(no+tag, 502), shows(yes + tag)}, false},

		{"the value of the creation", set, []func(*history){created(yes), shows(yes)}, false},
		{"another value than the creation", set, []func(*history){created(yes), shows(no)}, true},
		{"the value of the update", set, []func(*history){created(no), updated(yes, 200), shows(yes)}, false},
		{"the value before the update", set, []func(*history){created(no), updated(yes, 200), shows(no)}, true},
		{"the value before the update, in a recording", set, []func(*history){
			func(h *history) { h.target.Recorded = true }, created(no), updated(yes, 200), shows(no)}, false},
		{"the value before the update, within patience", set, []func(*history){impatient, created(no), updated(yes, 200), shows(no)}, false},
		{"the value before an update that was only accepted", set, []func(*history){created(no), updated(yes, 202), shows(no)}, false},
		{"the value before an update that was refused", set, []func(*history){created(no), updated(yes, 422), shows(no)}, false},
		{"the value of a refused update", set, []func(*history){created(no), updated(yes, 422), shows(yes)}, true},
		{"another value after an update that does not name it", set, []func(*history){created(no), updated(`"name":"a"`, 200), shows(yes)}, true},
		{"false after an update to a tag", set, []func(*history){created(yes), updated(tag[1:], 200), updated(`"name":"a"`, 200), shows(no)}, false},
		{"false for a tag", set, []func(*history){created(no), updated(yes+tag, 200), shows(no + tag)}, false},
		{"no value", set, []func(*history){created(yes), shows(`"source_config":{}`)}, false},
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
