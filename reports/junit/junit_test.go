package junit_test

import (
	"encoding/xml"
	"testing"

	library "github.com/jstemmer/go-junit-report/v2/junit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/junit"
)

// TestJUnit checks that the counts are those of the testcases, that each testcase has one outcome, and that names are
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
