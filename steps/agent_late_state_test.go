package steps_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestStateAtTheEnd judges servers whose state shows a run's messages only when the run ends. One that rolls back rightly
// is conformant; only what is about messages that had been visible is not applicable there.
func TestStateAtTheEnd(t *testing.T) {
	t.Parallel()
	type late struct {
		name  string
		layer func(*proxy, http.Handler) http.Handler
		fails []string
	}
	all := []late{
		{name: "rollback is right", layer: showsAtEnd},
		{name: "rollback is refused", layer: layers(strategy("reject"), showsAtEnd), fails: []string{"AS-ROLLBACK-1"}},
		{name: "the prior run is only marked", layer: layers(keepsRolledBack(func(r *seenRun) bool { return r.hold > 0 && strings.HasPrefix(r.text, "wait-after-write") }), showsAtEnd),
			fails: []string{"AS-ROLLBACK-2", "AS-ROLLBACK-4", "AS-ROLLBACK-8"}},
		{name: "what the prior run had written appears after its deletion", layer: layers(keepsMessages, showsAtEnd),
			fails: []string{"AS-ROLLBACK-3", "AS-ROLLBACK-4", "AS-ROLLBACK-5", "AS-ROLLBACK-8"}},
	}
	together(t, all, func(c late) string { return c.name }, func(t *testing.T, c late) {
		s := startIndependent(t, independent.Options{})
		res := judgeAgent(t, s, c.layer, func(o *steps.Options) {
			for _, q := range o.Catalogue.Requirements {
				if strings.HasPrefix(q.ID, "AS-ROLLBACK-") || strings.HasPrefix(q.ID, "AS-RUN-") || strings.HasPrefix(q.ID, "AS-STATE-") {
					o.Select.Only = append(o.Select.Only, q.ID)
				}
			}
		})
		var failed, inapplicable []string
		for _, q := range res.Requirements {
			if q.Verdict == reports.Failed {
				failed = append(failed, q.ID)
			}
			for _, scenario := range q.Scenarios {
				if scenario.Skip != nil && scenario.Skip.Kind == reports.NotApplicable {
					inapplicable = append(inapplicable, q.ID)
				}
				if len(c.fails) == 0 {
					assert.Contains(t, []reports.Verdict{reports.Passed, reports.Skipped}, scenario.Verdict, "%s %s: %s", q.ID, scenario.Name, scenario.Reason)
				}
			}
		}
		assert.Equal(t, c.fails, failed)
		if !slices.Contains(c.fails, "AS-ROLLBACK-1") { // else no run is rolled back at all
			assert.Equal(t, []string{"AS-ROLLBACK-3"}, inapplicable)
		}
	})
}

// showsAtEnd hides the messages of a run from the state until its answer, which repeats its last message, is there.
var showsAtEnd = when(at("GET", "/state"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	changeMessages(w, record(next, r), func(m []json.RawMessage) []json.RawMessage {
		isHuman := func(one json.RawMessage) bool { return gjson.GetBytes(one, "type").String() == "human" }
		for i, input := range m {
			text := gjson.GetBytes(input, "content").String()
			isLast := isHuman(input) && (i+1 == len(m) || !isHuman(m[i+1]))
			if isLast && !slices.ContainsFunc(m[i+1:], func(one json.RawMessage) bool { return strings.Contains(gjson.GetBytes(one, "content").String(), text) }) {
				for i > 0 && isHuman(m[i-1]) {
					i--
				}
				return m[:i]
			}
		}
		return m
	})
})

// layers puts one layer before another.
func layers(outer, inner func(*proxy, http.Handler) http.Handler) func(*proxy, http.Handler) http.Handler {
	return func(p *proxy, next http.Handler) http.Handler { return outer(p, inner(p, next)) }
}
