package steps_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestUnknownAssistant checks that a wrong assistant_id in the configuration blocks, and that a server which accepts no
// run fails.
func TestUnknownAssistant(t *testing.T) {
	t.Parallel()
	refusal := []string{"create-run", "status = 404"}
	named := deviation{refusal, []string{"answer.detail = unknown: <request.assistant_id>"}}
	numbered := deviation{refusal, []string{"new answer.request_id = <fresh-id>"}}
	alike := deviation{refusal, []string{`body = '{"detail":"Not Found"}'`}}
	refuse := func(how string) deviation { return deviation{[]string{"create-run"}, []string{"refuse " + how}} }
	for name, c := range map[string]struct {
		assistant  string // the configured assistant; known to the server if empty
		deviations []deviation
		isBlocked  bool // whether the key assistant_id blocks; otherwise AS-RUN-1 fails
	}{
		"unknown, and not named in the response":               {"nobody", nil, true},
		"unknown, and named in the response":                   {"nobody", []deviation{named}, true},
		"unknown, and each refusal has an id":                  {"nobody", []deviation{numbered}, true},
		"unknown assistants and threads get the same response": {"nobody", []deviation{alike}, false},
		"every run is refused with 422":                        {"", []deviation{refuse("422 no")}, false},
		"every run is refused with 403":                        {"", []deviation{refuse("403 You may not run <request.assistant_id>")}, false},
		"every run is refused with 404 and an id":              {"", []deviation{refuse("404 Not Found"), numbered}, false},
	} {
		t.Run(name, func(t *testing.T) {
			runInBubble(t, func(t world) {
				cfg := configureAgents(t, c.deviations...)
				cfg.AssistantID = cmp.Or(c.assistant, cfg.AssistantID)
				res := judge(t, cfg, func(o *steps.Options) {
					o.Select.Only = []string{"AS-RUN-1", "AS-STATE-1", "AS-ROLLBACK-2"}
				})
				for _, q := range res.Requirements {
					isBlocked := slices.Contains(q.BlockedBy, reports.Blocker{Kind: reports.ByKey, Name: "assistant_id"})
					assert.Equal(t, c.isBlocked, isBlocked, "%s: %s", q.ID, q.Reason)
					if q.ID == "AS-RUN-1" && !c.isBlocked {
						assert.Equal(t, reports.Failed, q.Verdict, "%s: %s", q.ID, q.Reason)
					}
				}
			})
		})
	}
}
