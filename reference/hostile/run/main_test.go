package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/hostile"
)

func TestComparedReturnsProblems(t *testing.T) {
	b := bench{seconds: 2, megabytes: 100}
	m := hostile.Mode{Verdict: "non-conformant"}
	good := row{usage: usage{Exit: 1, Seconds: 11.9, Megabytes: 100}}
	for name, c := range map[string]struct {
		r       row
		console string
		result  string
		want    int
	}{
		"correct":               {good, "fine\n", `{"verdict":"non-conformant"}`, 0},
		"another verdict":       {good, "", `{"verdict":"conformant"}`, 1},
		"another exit code":     {row{usage: usage{Exit: 0}}, "", `{"verdict":"non-conformant"}`, 1},
		"too slow":              {row{usage: usage{Exit: 1, Seconds: timeout.Seconds() + 2.1}}, "", `{"verdict":"non-conformant"}`, 1},
		"too large":             {row{usage: usage{Exit: 1, Megabytes: 101}}, "", `{"verdict":"non-conformant"}`, 1},
		"no result":             {good, "", `{`, 2},
		"a panic":               {good, "panic: x", `{"verdict":"non-conformant"}`, 1},
		"an escape sequence":    {good, "\x1b[2J", `{"verdict":"non-conformant"}`, 1},
		"a command of CI":       {good, "  ::set-output name=x::y", `{"verdict":"non-conformant"}`, 1},
		"an invalid request":    {good, "", `{"verdict":"non-conformant","headline":"the suite sent 1 request with a mistake"}`, 1},
		"an error of the suite": {good, "", `{"verdict":"non-conformant","requirements":[{"scenarios":[{"blocked_by":[{"kind":"suite"}]}]}]}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(folder, "result.json"), []byte(c.result), 0o644))
			assert.Len(t, b.compared(m, &c.r, []byte(c.console), folder), c.want)
		})
	}
}
