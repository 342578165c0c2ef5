package cucumber_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/cucumber"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCucumber(t *testing.T) {
	reporttest.Exporter{File: "cucumber.json", Write: cucumber.Write, Check: reporttest.SchemaFile("cucumber.schema.json"), Limit: 3 << 20}.Test(t)
}

func TestCucumberNeverShowsAFailureAsPassed(t *testing.T) {
	r := reporttest.Faulty()
	for i := range r.Requirements {
		for j := range r.Requirements[i].Scenarios {
			for k := range r.Requirements[i].Scenarios[j].Steps {
				r.Requirements[i].Scenarios[j].Steps[k].Verdict = reports.Passed // as if the step had not been marked
			}
		}
	}
	var b bytes.Buffer
	require.NoError(t, cucumber.Write(&b, r))
	var features []struct {
		Elements []struct {
			Steps []struct{ Result struct{ Status string } }
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &features))
	counts := map[string]int{}
	for _, f := range features {
		for _, e := range f.Elements {
			worst := "passed"
			for _, s := range e.Steps {
				if worst == "passed" {
					worst = s.Result.Status
				}
			}
			counts[worst]++
		}
	}
	all, warnings := r.Counts.Scenarios, 0
	for _, q := range overview.Of(r).Classes[overview.Warning] {
		for _, s := range q.Scenarios {
			if s.Verdict == reports.Failed {
				warnings++
			}
		}
	}
	require.Positive(t, warnings)
	assert.Equal(t, map[string]int{
		"passed": all[reports.Passed], "failed": all[reports.Failed] - warnings + 1, // the verdict itself
		"pending": all[reports.Blocked] + all[reports.Inconclusive] + warnings, "skipped": all[reports.Skipped],
	}, counts)
}
