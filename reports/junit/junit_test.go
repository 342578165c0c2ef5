package junit_test

import (
	"encoding/xml"
	"strings"
	"testing"

	library "github.com/jstemmer/go-junit-report/v2/junit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/junit"
)

// TestJUnit checks that the counts equal the numbers of testcases, that each testcase has one outcome, and that names are
// unique. The tests of package export compare the outcomes with the exit code.
func TestJUnit(t *testing.T) {
	check := func(t *testing.T, doc []byte) {
		var written, counted library.Testsuites
		require.NoError(t, xml.Unmarshal(doc, &written))
		seen := map[string]bool{}
		for _, suite := range written.Suites {
			assert.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`, suite.Timestamp)
			again := library.Testsuite{}
			for _, c := range suite.Testcases {
				assert.Regexp(t, `^\d+\.\d{3}$`, c.Time)
				key := c.Classname + " " + c.Name
				assert.False(t, seen[key], "testcase twice: %.200s", key)
				seen[key] = true
				again.AddTestcase(c)
			}
			assert.Equal(t, []int{again.Tests, again.Failures, again.Errors, again.Skipped}, []int{suite.Tests, suite.Failures, suite.Errors, suite.Skipped})
			assert.LessOrEqual(t, again.Failures+again.Errors+again.Skipped, again.Tests)
			counted.AddSuite(again)
		}
		assert.Equal(t, []int{counted.Tests, counted.Failures, counted.Errors, counted.Skipped}, []int{written.Tests, written.Failures, written.Errors, written.Skipped})
	}
	reporttest.Exporter{File: "junit.xml", Write: junit.Write, Check: check, Limit: 3 << 20}.Test(t)
}

// TestRepetitions checks that a failure in one of several repetitions is not hidden if it fails the test run.
func TestRepetitions(t *testing.T) {
	known := &reports.Known{Reason: "slow machines", Owner: "team", Flaky: true}
	for name, c := range map[string]struct {
		level                  reports.Level
		known                  *reports.Known
		passed, failed         int
		failure, reruns, flaky int
		skipped                int
		contains               string
	}{
		"a MUST that failed once":            {reports.Must, nil, 9, 1, 1, 0, 0, 0, `message="passed 9 of 10: `},
		"a MUST that failed several times":   {reports.Must, nil, 7, 3, 1, 2, 0, 0, `<rerunFailure message="repetition 2: wrong" type="MUST">`},
		"a MUST that failed always":          {reports.Must, nil, 0, 3, 1, 2, 0, 0, `<stackTrace>repetition 3: wrong</stackTrace>`},
		"a known failure that failed once":   {reports.Must, known, 9, 1, 0, 0, 1, 0, `<flakyFailure message="repetition 1: wrong" type="MUST">`},
		"a known failure that failed always": {reports.Must, known, 0, 3, 0, 0, 0, 1, "known failure: slow machines"},
		"a SHOULD that failed twice":         {reports.Should, nil, 8, 2, 0, 0, 2, 0, `<flakyFailure message="repetition 2: wrong" type="SHOULD">`},
		"a MUST that passed":                 {reports.Must, nil, 10, 0, 0, 0, 0, 0, `classname="control-plane.CP-A-1"`},
	} {
		s := reports.Scenario{Name: "a scenario", Verdict: reports.Passed, Repetitions: reports.Repetitions{reports.Passed: c.passed, reports.Failed: c.failed}}
		if c.failed > 0 {
			s.Verdict, s.Reason = reports.Failed, "wrong"
		}
		for i := range c.failed {
			s.Failures = append(s.Failures, reports.Failure{Repetition: i + 1, Reason: "wrong"})
		}
		r := &reports.Result{Requirements: []reports.Requirement{{ID: "CP-A-1", Profile: "control-plane", Level: c.level, Verdict: s.Verdict,
			Known: c.known, Scenarios: []reports.Scenario{s}}}}
		var b strings.Builder
		require.NoError(t, junit.Write(&b, r))
		count := func(element string) int { return strings.Count(b.String(), "<"+element+" ") }
		assert.Equal(t, []int{c.failure, c.reruns, c.flaky, c.skipped},
			[]int{count("failure"), count("rerunFailure"), count("flakyFailure"), count("skipped")}, name)
		assert.Contains(t, b.String(), c.contains, name)
	}
}
