package conformance

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

func TestMistakesInTheTarget(t *testing.T) {
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "file.yaml")
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "result.json"), []byte("mine"), 0o600))
	const url = "http://127.0.0.1:1"
	for want, target := range map[string]Target{
		"an address and a handler of the same half": {URL: url, Handler: http.NotFoundHandler()},
		"no target: set URL":                        {},
		"only the command agentconform serves":      {URL: url, Config: file("fixtures: {serve: '127.0.0.1:0'}")},
		"unknown key":                               {URL: url, Config: file("targett: x")},
		"AGENTCONFORM_RATE":                         {URL: url, Environ: []string{"AGENTCONFORM_RATE=often"}},
		"no requirement has the tag @safety":        {URL: url, FailOn: []string{"@safety"}},
		"known.yaml":                                {URL: url, Baseline: "known.yaml"},
		"the folder Out: ":                          {URL: url, Out: foreign},
	} {
		if target.Environ == nil {
			target.Environ = []string{}
		}
		require.ErrorContains(t, (&run{Target: target, t: t}).prepare(), want)
	}
}

func TestOrderOfSubTests(t *testing.T) {
	r := &run{result: &reports.Result{Requirements: []reports.Requirement{
		{ID: "A-1"},
		{ID: "A-2", BlockedBy: []reports.Blocker{{Kind: reports.ByRequirement, Name: "A-4"}, {Kind: reports.ByTarget, Name: "A-1"}}},
		{ID: "A-3", ExplainedBy: []string{"A-2", "not selected"}},
		{ID: "A-4", ExplainedBy: []string{"A-3"}}, // a cycle
	}}}
	for _, q := range r.result.Requirements {
		r.subTests = append(r.subTests, &subTest{id: q.ID})
	}
	var got []string
	for _, s := range r.inOrder() {
		got = append(got, s.id)
	}
	require.Equal(t, []string{"A-1", "A-3", "A-4", "A-2"}, got)
}
