package steps_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestAssistantThatIsNotKnown tells a wrong assistant_id from a server that accepts no run.
func TestAssistantThatIsNotKnown(t *testing.T) {
	t.Parallel()
	refusal := []string{"create-run", "status = 404"}
	named := changed{refusal, []string{"answer.detail = unknown: <request.assistant_id>"}}
	numbered := changed{refusal, []string{"new answer.request_id = <fresh-id>"}}
	for name, c := range map[string]struct {
		assistant string
		changes   []changed
		blocked   bool // by assistant_id; else AS-RUN-1 fails
	}{
		"not known, and not named in the answer":    {"nobody", nil, true},
		"not known, and named in the answer":        {"nobody", []changed{named}, true},
		"not known, and each refusal has an id":     {"nobody", []changed{numbered}, true},
		"every run is refused with 422":             {"", []changed{{[]string{"create-run"}, []string{"refuse 422 no"}}}, false},
		"unknown assistants and threads look alike": {"nobody", []changed{{refusal, []string{`body = '{"detail":"Not Found"}'`}}}, false},
		"every run is refused with 403": {
			"", []changed{{[]string{"create-run"}, []string{"refuse 403 You may not run <request.assistant_id>"}}}, false},
		"every run is refused with 404 and an id": {"", []changed{{[]string{"create-run"}, []string{"refuse 404 Not Found"}}, numbered}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t world) {
				cfg := agentConfig(t, c.changes...)
				cfg.AssistantID = cmp.Or(c.assistant, cfg.AssistantID)
				res := judge(t, cfg, func(o *steps.Options) {
					o.Select.Only = []string{"AS-RUN-1", "AS-STATE-1", "AS-ROLLBACK-2"}
				})
				for _, q := range res.Requirements {
					is := slices.Contains(q.BlockedBy, reports.Blocker{Kind: reports.ByKey, Name: "assistant_id"})
					assert.Equal(t, c.blocked, is, "%s: %s", q.ID, q.Reason)
					if q.ID == "AS-RUN-1" && !c.blocked {
						assert.Equal(t, reports.Failed, q.Verdict, "%s: %s", q.ID, q.Reason)
					}
				}
			})
		})
	}
}
