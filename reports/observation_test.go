package reports_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

func TestAnObservationNamesWhatItIsAbout(t *testing.T) {
	for says, f := range map[string]reports.Finding{
		`repo_ref: expected "main", got null`:                                             {Expected: `"main"`, Actual: "null", Pointer: "/source_revision_config/repo_ref"},
		"list-revisions: expected status 422, got status 200 with a list of 20 revisions": {Expected: "status 422", Actual: "status 200 with a list of 20 revisions\n{}", Operation: "list-revisions"},
		`get-state: expected status 401 or 403, got status 500 with {"detail":"x"}`:       {Expected: "status 401 or 403", Actual: `status 500 with {"detail":"x"}`, Operation: "get-state"},
		`get-state: expected status 2xx, got status 404 with {"detail":"x"}`:              {Expected: "status 2xx", Actual: `status 404 with {"detail":"x"}`, Operation: "get-state"},
		"expected an error status, or nothing of the run, got status 200 with \"x\"":      {Expected: "an error status, or nothing of the run", Actual: `status 200 with "x"`, Operation: "get-state"},
	} {
		assert.Equal(t, says, f.Observation())
	}
	whole := reports.Finding{Expected: "status 422", Actual: "status 200"}
	assert.True(t, whole.ObservedWhole())
	whole.Actual += "\n{}"
	assert.False(t, whole.ObservedWhole(), "the body is not in the line")
}
