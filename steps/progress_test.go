package steps_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/target"
)

// TestProgressAgreesWithResult judges a conforming server with mistakes in the configuration. The progress announces the
// failures of the result, and no scenario that is blocked by a mistake.
func TestProgressAgreesWithResult(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*config.Config)
		only   []string
	}{
		"no users": {func(c *config.Config) { c.Users = nil }, []string{"E2E-1"}},
		"a wrong API key": {func(c *config.Config) { c.Credentials.APIKey = "a key that nobody knows" },
			[]string{"CP-CREATE-*", "CP-AUTH-*"}},
		"a wrong word of vocabulary": {func(c *config.Config) { c.Vocabulary = map[string]string{"graph_config_path": "other_path"} },
			[]string{"CP-UPDATE-2", "CP-CREATE-2", "CP-REV-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			runInBubble(t, func(t world) {
				cfg := configure(t, startIndependent(t, independent.Options{}))
				c.change(cfg)
				var mu sync.Mutex
				announced := map[string]bool{}
				res := judge(t, cfg, func(o *steps.Options) {
					o.Select.Only = c.only
					o.Progress = func(e target.Event) {
						mu.Lock()
						defer mu.Unlock()
						if e.Verdict == reports.Failed {
							announced[e.Name] = true
						}
					}
				})
				blocked := false
				for _, q := range res.Requirements {
					for _, s := range q.Scenarios {
						assert.Equal(t, s.Verdict == reports.Failed, announced[s.Name], "%s %s: %s", q.ID, s.Name, s.Reason)
						blocked = blocked || s.Verdict == reports.Blocked
					}
				}
				assert.True(t, blocked)
			})
		})
	}
}
