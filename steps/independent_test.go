package steps_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// startIndependent starts the second conforming server for a test.
func startIndependent(t *testing.T, o independent.Options) *independent.Server {
	t.Helper()
	s := independent.Start(o)
	t.Cleanup(s.Close)
	return s
}

// configure writes the configuration with which a vendor would have the independent server tested.
func configure(t *testing.T, s *independent.Server) *config.Config {
	t.Helper()
	c := config.Default()
	require.NoError(t, s.Configure(&c))
	return &c
}

func judge(t *testing.T, c *config.Config, change func(*steps.Options)) *reports.Result {
	t.Helper()
	catalogue, oracle, err := steps.Requirements()
	require.NoError(t, err)
	o := steps.Options{Config: c, Catalogue: catalogue, Oracle: oracle, ID: "test", Seed: 1, Version: "test"}
	if change != nil {
		change(&o)
	}
	res, err := steps.Run(context.Background(), o)
	require.NoError(t, err)
	return res
}

// TestIndependentServerIsConformant judges the second server in both editions: all passes but what it does not have.
func TestIndependentServerIsConformant(t *testing.T) {
	t.Parallel()
	for _, edition := range []string{config.Cloud, config.SelfHosted} {
		t.Run(edition, func(t *testing.T) {
			s := startIndependent(t, independent.Options{Edition: edition})
			c := configure(t, s)
			res := judge(t, c, nil)
			if res.Verdict != reports.Conformant {
				_ = console.Write(os.Stderr, res, console.Options{})
			}
			require.Equal(t, reports.Conformant, res.Verdict)
			var others []string
			for _, q := range res.Requirements {
				if q.Verdict != reports.Passed {
					require.NotNil(t, q.Skip, q.ID)
					assert.Equal(t, reports.NotApplicable, q.Skip.Kind, q.ID)
					if q.Skip.Key != "create.body.source" { // of the other edition
						others = append(others, q.ID)
					}
				}
			}
			assert.Equal(t, []string{"AS-AUTHZ-6"}, others)
		})
	}
}
