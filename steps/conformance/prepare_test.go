package conformance

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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
