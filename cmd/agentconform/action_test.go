package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// TestArgumentsOfTheAction runs the last step of action.yml by bash, as GitHub does, with a program in the place of the suite that
// prints its arguments: each line is one argument, and nothing in it is read by the shell.
func TestArgumentsOfTheAction(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	text, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	var action struct {
		Runs struct {
			Steps []struct {
				Run string `yaml:"run"`
			} `yaml:"steps"`
		} `yaml:"runs"`
	}
	require.NoError(t, yaml.Unmarshal(text, &action))
	require.NotEmpty(t, action.Runs.Steps)
	script := action.Runs.Steps[len(action.Runs.Steps)-1].Run
	require.NotContains(t, script, "${{", "an expression in a script is text that bash reads: pass it by env")

	for name, c := range map[string]struct {
		arguments string
		want      []string
	}{
		"none":                    {"", nil},
		"one":                     {"--fail-fast", []string{"--fail-fast"}},
		"a line break at the end": {"--fail-fast\n--timeout=30m\n", []string{"--fail-fast", "--timeout=30m"}},
		"Windows and empty lines": {"--fail-fast\r\n\r\n\n--plan", []string{"--fail-fast", "--plan"}},
		"blanks":                  {"--baseline=my known  list.yaml\n --plan", []string{"--baseline=my known  list.yaml", " --plan"}},
		"quotes":                  {`--only="a" 'b` + "\n" + `back\slash\`, []string{`--only="a" 'b`, `back\slash\`}},
		"what a shell would run":  {"$(touch ran)\n`touch ran`\n; touch ran\n$HOME *", []string{"$(touch ran)", "`touch ran`", "; touch ran", "$HOME *"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(folder, "agentconform"), []byte("#!/bin/sh\nprintf '%s\\0' \"$@\"\n"), 0o700))
			step := exec.Command(bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
			step.Dir = folder
			step.Env = append(os.Environ(), "RUNNER_TEMP="+folder, "CONFIG=my config.yaml", "OUT=out", "ARGUMENTS="+c.arguments)
			out, err := step.Output()
			require.NoError(t, err)
			got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			assert.Equal(t, append([]string{"run", "--config", "my config.yaml", "--out", "out"}, c.want...), got)
			assert.NoFileExists(t, filepath.Join(folder, "ran"))
		})
	}
}
