package steps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
)

// TestMissingKeyAddsWhatItPromises judges a conforming server without a key, and then with it. The first test run
// promises a number of further requirements. The second must judge as many, except requirements that it finds not to
// apply.
func TestMissingKeyAddsWhatItPromises(t *testing.T) {
	for name, c := range map[string]struct {
		remove func(*config.Config)
		add    func(c *config.Config, from *config.Config)
		key    string
	}{
		"credentials of a bare address": {
			func(c *config.Config) {
				bare := config.Default()
				bare.Target, bare.Timeouts, bare.Polling = c.Target, c.Timeouts, c.Polling
				*c = bare
			},
			func(c, from *config.Config) { c.Credentials.APIKey = from.Credentials.APIKey }, "credentials.api_key"},
		"users.1": {func(c *config.Config) { c.Users, c.Target = c.Users[:1], "" },
			func(c, from *config.Config) { c.Users = from.Users[:2] }, "users.1"},
	} {
		t.Run(name, func(t *testing.T) {
			runInBubble(t, func(t world) {
				s := startIndependent(t, independent.Options{})
				from := configure(t, s)
				from.AgentTarget = s.AgentURL
				cfg := *from
				c.remove(&cfg)
				before := judge(t, &cfg, nil)
				with := cfg
				c.add(&with, from)
				after := judge(t, &with, nil)
				promised := 0
				for _, m := range before.MissingKeys {
					if m.Key == c.key {
						promised = m.Adds
					}
					assert.False(t, strings.HasPrefix(m.Key, c.key+"."), "%s adds nothing without %s", m.Key, c.key)
				}
				added := 0
				for _, q := range before.Requirements {
					was, is := q.Skip, after.Requirement(q.ID).Skip
					isInapplicable := is != nil && is.Kind == reports.NotApplicable
					if was != nil && was.Kind != reports.NotApplicable && (is == nil || isInapplicable) {
						added++
					}
				}
				require.NotZero(t, promised, "%v", before.MissingKeys)
				assert.Equal(t, added, promised)
			})
		})
	}
}
