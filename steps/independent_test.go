package steps_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/forecast"
	"github.com/agentconform/agentconform/steps/internal/independent"
	"github.com/agentconform/agentconform/steps/internal/independent/vendor"
)

// startIndependent starts the second conforming server for a test.
func startIndependent(t *testing.T, o independent.Options) *independent.Server {
	t.Helper()
	s, err := independent.Start(o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// configure writes the configuration with which a vendor would have the independent server tested.
func configure(t *testing.T, s *independent.Server) *config.Config {
	t.Helper()
	c, err := vendor.Configuration(s)
	require.NoError(t, err)
	return c
}

// What all runs share, as they do in a proof.
var (
	loadCatalogue = sync.OnceValues(features.Load)
	newOracle     = sync.OnceValues(spec.New)
)

func judge(t *testing.T, c *config.Config, change func(*steps.Options)) *reports.Result {
	t.Helper()
	catalogue, err := loadCatalogue()
	require.NoError(t, err)
	oracle, err := newOracle()
	require.NoError(t, err)
	journal := reports.NewMemory()
	o := steps.Options{Config: c, Catalogue: catalogue, Oracle: oracle, Journal: journal, ID: "test", Seed: 1, Version: "test"}
	if change != nil {
		change(&o)
	}
	res, err := steps.Run(context.Background(), o)
	require.NoError(t, err)
	return res
}

// TestIndependentServerIsConformant judges the second server in both editions, as a version before did.
func TestIndependentServerIsConformant(t *testing.T) {
	t.Parallel()
	for stored, edition := range map[string]string{"independent": independent.Cloud, "independent-self-hosted": independent.SelfHosted} {
		t.Run(stored, func(t *testing.T) {
			s := startIndependent(t, independent.Options{Edition: edition})
			c := configure(t, s)
			res := judge(t, c, nil)
			if res.Verdict != reports.Conformant {
				_ = console.Write(os.Stderr, res, console.Options{})
			}
			require.Equal(t, reports.Conformant, res.Verdict)
			assertPlan(t, c, forecast.Selection{}, res)
			assertAsStored(t, stored, res.Requirements)
		})
	}
}

// assertAsStored compares with the result of an earlier version. A requirement that this did not have has to pass, if it applies.
func assertAsStored(t *testing.T, name string, requirements []reports.Requirement) {
	t.Helper()
	stored, now := storedVerdicts(t, name), verdictsOf(requirements)
	for _, q := range requirements {
		if _, known := stored[q.ID]; known {
			continue
		}
		if q.Skip == nil || q.Skip.Kind != reports.NotApplicable {
			assert.Equal(t, reports.Passed, q.Verdict, "%s is new", q.ID)
		}
		delete(now, q.ID)
	}
	assert.Equal(t, stored, now)
}

// storedVerdicts reads the verdicts of the version before on the same server.
func storedVerdicts(t *testing.T, name string) map[string]reports.Verdict {
	file, err := os.Open("../reports/testdata/results/" + name + ".json.gz")
	require.NoError(t, err)
	defer file.Close() //nolint:errcheck // only read
	packed, err := gzip.NewReader(file)
	require.NoError(t, err)
	var before struct{ Requirements []reports.Requirement }
	require.NoError(t, json.NewDecoder(packed).Decode(&before))
	return verdictsOf(before.Requirements)
}

func verdictsOf(requirements []reports.Requirement) map[string]reports.Verdict {
	all := map[string]reports.Verdict{}
	for _, q := range requirements {
		all[q.ID] = q.Verdict
	}
	return all
}
