package script_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

// TestCommandsOfTheShell checks that a script judges nothing if a command fails, and that it waits for a slow one.
func TestCommandsOfTheShell(t *testing.T) {
	target, _ := server(t, map[string][]string{"POST /threads/t/runs": {"{}"}, "GET /threads/t/state": {"{}"}})
	start := exchange("POST", "/threads/t/runs", `{"input":"wait=300 word"}`, 200, `{}`)
	start.Operation, start.AtMS, start.MS = "create-run", 10, 1000
	state := exchange("GET", "/threads/t/state", "", 200, "{}")
	state.AtMS = 200
	r, f := chainOf(target, start, state)
	f.Check = &reports.Check{Statuses: []string{"404"}}
	for date, want := range map[string]int{"exit 1": unknown, `sleep 0.3; PATH=${PATH#*:} date "$@"`: 1} {
		commands := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(commands, "date"), []byte("#!/bin/sh\n"+date), 0o700)) //nolint:gosec // a program
		out, log, code := run(t, r, f, "PATH="+commands+":"+os.Getenv("PATH"))
		assert.Equal(t, want, code, out+log)
		assert.NotEmpty(t, lastLine(out))
	}
}
