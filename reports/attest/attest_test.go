package attest_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/attest"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

var file = attest.Resource{Name: "result.json", Digest: map[string]string{"sha256": strings.Repeat("0", 64)}}

func TestStatement(t *testing.T) {
	write := func(w io.Writer, r *reports.Result) error {
		return attest.WriteStatement(w, attest.Of(r, file, "https://ci.example/1"), []attest.Resource{file})
	}
	check := func(t *testing.T, doc []byte) {
		var statement struct{ Subject []attest.Resource }
		require.NoError(t, json.Unmarshal(doc, &statement))
		assert.Len(t, statement.Subject, 1)
	}
	reporttest.Exporter{File: "statement.json", Write: write, Check: check, Limit: 20_000}.Test(t)
}

// TestResult checks that the predicate is PASSED only for a conformant result.
func TestResult(t *testing.T) {
	failed := []reports.Requirement{{ID: "A", Level: reports.Must, Verdict: reports.Passed}, {ID: "B", Level: reports.Should, Verdict: reports.Failed}}
	for _, c := range []struct {
		verdict      reports.Conclusion
		requirements []reports.Requirement
		want         string
	}{
		{reports.Conformant, failed[:1], "PASSED"},
		{reports.Conformant, failed, "WARNED"},
		{reports.Incomplete, failed[:1], "FAILED"},
		{reports.NonConformant, failed, "FAILED"},
		{reports.Conformant, []reports.Requirement{{ID: "A", Level: reports.Must, Verdict: reports.Failed}}, "FAILED"},
	} {
		assert.Equal(t, c.want, attest.Of(&reports.Result{Verdict: c.verdict, Requirements: c.requirements}, file, "").Result)
	}
}

func TestParseSubject(t *testing.T) {
	digest := strings.Repeat("a1", 32)
	s, err := attest.ParseSubject("registry.example:5000/team@x/server@sha256:" + digest)
	require.NoError(t, err)
	assert.Equal(t, attest.Resource{Name: "registry.example:5000/team@x/server", Digest: map[string]string{"sha256": digest}}, s)
	for _, wrong := range []string{"", "server", "@sha256:" + digest, "server@sha256:" + digest[1:], "server@md5:" + digest[:32], "server@sha256:" + strings.ToUpper(digest), "server@:"} {
		_, err := attest.ParseSubject(wrong)
		assert.Error(t, err, wrong)
	}
}
