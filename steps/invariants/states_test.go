package invariants

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/target"
)

// TestStatesThatNeverExisted judges histories that end with the read to judge, one second after the previous exchange.
func TestStatesThatNeverExisted(t *testing.T) {
	const (
		state = `no state lacks a completed run that it had shown before, and all later runs`
		full  = `{"values":{"messages":[{"type":"human","content":"hello"},{"type":"ai","content":"hello"}]}}`
		empty = `{"values":{"messages":[]}}`
	)
	run := func(h *history, method, path, body string, status int, response string) {
		h.agent(h.target.CallerWith("users.0"), method, path, body, status, response)
	}
	thread := func(h *history) { run(h, "POST", "/threads", `{}`, 200, `{"thread_id":"`+one+`"}`) }
	accepted := func(h *history) {
		thread(h)
		run(h, "POST", "/threads/"+one+"/runs", runBody, 200, `{"run_id":"`+two+`"}`)
	}
	completed := func(h *history) {
		accepted(h)
		run(h, "GET", "/threads/"+one+"/runs/"+two+"/join", "", 200, `{}`)
	}
	reads := func(h *history, body string) { run(h, "GET", "/threads/"+one+"/state", "", 200, body) }
	shown := func(h *history) {
		completed(h)
		reads(h, full)
		reads(h, full)
	}
	posts := func(h *history, strategy, text string) {
		body := strings.Replace(`{`+strategy+runBody[1:], "hello", text, 1)
		run(h, "POST", "/threads/"+one+"/runs", body, 200, `{"run_id":"`+text+`"}`)
	}
	for _, row := range []struct {
		name, step string
		history    func(h *history)
		fails      bool
	}{
		{"a state that was shown before is empty", state, func(h *history) {
			completed(h)
			reads(h, full)
			reads(h, full)
			reads(h, empty)
		}, true},
		{"a state that was never shown is empty", state, func(h *history) {
			completed(h)
			reads(h, empty)
			reads(h, empty)
		}, false},
		{"a state of a run that has not ended", state, func(h *history) {
			accepted(h)
			reads(h, full)
			reads(h, empty)
		}, false},
		{"a state that is too long to be recorded", state, func(h *history) {
			shown(h)
			reads(h, strings.Replace(full, `[`, `[{"type":"human","content":"`+strings.Repeat("x", 64<<10)+`"},`, 1))
		}, false},
		{"an empty state during a later run", state, func(h *history) {
			shown(h)
			posts(h, "", "second")
			reads(h, empty)
		}, true},
		{"an empty state while two later runs are in progress", state, func(h *history) {
			shown(h)
			posts(h, "", "second")
			posts(h, "", "third")
			reads(h, empty)
		}, true},
		{"an empty state after a later run", state, func(h *history) {
			shown(h)
			posts(h, "", "second")
			run(h, "GET", "/threads/"+one+"/runs/second/join", "", 200, `{}`)
			reads(h, empty)
		}, true},
		{"an empty state within patience after the first run has ended", state, func(h *history) {
			h.target.Config.Patience = 5 * time.Second
			shown(h)
			posts(h, "", "second")
			reads(h, empty)
		}, false},
		{"the state before a later run", state, func(h *history) {
			shown(h)
			posts(h, "", "second")
			reads(h, full)
		}, false},
		{"a state of the later run only", state, func(h *history) {
			shown(h)
			posts(h, "", "second")
			reads(h, strings.ReplaceAll(full, "hello", "second"))
		}, false},
		{"an empty state after a rollback", state, func(h *history) {
			shown(h)
			posts(h, `"multitask_strategy":"rollback",`, "second")
			reads(h, empty)
		}, false},
		{"an empty state after a run that fails", state, func(h *history) {
			shown(h)
			posts(h, "", "fail second")
			reads(h, empty)
		}, false},
		{"an empty state after a run of another assistant", state, func(h *history) {
			shown(h)
			body := strings.Replace(runBody, "conformance", "other", 1)
			run(h, "POST", "/threads/"+one+"/runs", strings.Replace(body, "hello", "second", 1), 200, `{"run_id":"second"}`)
			reads(h, empty)
		}, false},
		{"an empty state after a rollback that was refused", state, func(h *history) {
			shown(h)
			body := `{"multitask_strategy":"rollback",` + runBody[1:]
			run(h, "POST", "/threads/"+one+"/runs", body, 422, `{}`)
			reads(h, empty)
		}, true},
		{"a state after a request with an unknown effect", state, func(h *history) {
			completed(h)
			reads(h, full)
			reads(h, full)
			run(h, "DELETE", "/threads/"+one, "", 204, "")
			reads(h, empty)
		}, false},

		{"a state after a vendor request of another user that was refused", state, func(h *history) {
			completed(h)
			reads(h, full)
			reads(h, full)
			h.agent(h.target.CallerWith("users.1"), "POST", "/threads/"+one+"/history", `{}`, 404, `{}`)
			reads(h, empty)
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHistory(t)
			row.history(h)
			_, o := h.judged(row.step)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}

// TestStaleReads checks which reads are evidence for a failure of CP-UPDATE-1 if reads after an update alternate between
// the state before and after it. All reads are one second apart. Updates have the number of the revision that they
// create.
func TestStaleReads(t *testing.T) {
	const update = `{"source_revision_config":{"repo_ref":"main"}}`
	revision := func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
	for name, c := range map[string]struct {
		history  string // u: an update; w: a concurrent update; a digit: a read that names that revision
		patience time.Duration
		fails    bool  // without the failure of CP-UPDATE-1
		stale    []int // the numbers of the exchanges, from 1
	}{
		"in turn":                       {"0u10101", 0, true, []int{4, 6}},
		"in turn within patience":       {"0u10101", time.Minute, false, []int{4, 6}},
		"the update is never shown":     {"0u000", 0, false, nil},
		"the update is shown":           {"0u111", 0, false, nil},
		"in turn after two updates":     {"0u1u21212", 0, true, []int{6, 8}},
		"in turn after updates at once": {"0u1uw3232", 0, false, []int{6, 7, 8, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t, func(set *config.Config) { set.Patience = c.patience })
			sent := 0
			for _, event := range c.history {
				switch event {
				case 'w':
					h.at = h.at.Add(-time.Second)
					fallthrough
				case 'u':
					sent++
					h.plane(target.TheClient, "PATCH", deployment, update, 200, `{"latest_revision_id":"`+revision(sent)+`"}`)
				default:
					h.reads(deployment, `{"id":"`+one+`","latest_revision_id":"`+revision(int(event-'0'))+`"}`)
				}
			}
			const step = `each read shows what was written before, once the configured patience is over`
			_, o := h.judged(step)
			assert.Equal(t, c.fails, o != nil && o.Verdict == reports.Failed)
			h.others = []Other{failing("CP-UPDATE-1", reports.Must)}
			_, o = h.judged(step)
			if c.stale == nil {
				assert.True(t, o == nil || len(o.Violations) == 0)
				return
			}
			require.NotNil(t, o)
			assert.Equal(t, reports.Skipped, o.Verdict)
			var shown []int
			for _, v := range o.Violations {
				shown = append(shown, v.Shows()...)
			}
			slices.Sort(shown)
			assert.Equal(t, c.stale, slices.Compact(shown))
		})
	}
}
