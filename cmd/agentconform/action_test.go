package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// fakes replace the programs that the script of the action calls. go builds and curl downloads an agentconform that
// records its arguments, and prints an annotation.
var fakes = map[string]string{
	"go": `#!/bin/bash
cp "$FAKES/agentconform" "$3"
`,
	"curl": `#!/bin/bash
while [ "$1" != --output ]; do shift; done
printf '%s' "$3" >"$FAKES/url"
tar -czf "$2" -C "$FAKES" agentconform
`,
	"agentconform": `#!/bin/bash
[ "$1" != attest ] || { echo "$@"; exit 0; }
printf '%s\0' "$@" >"$FAKES/arguments"
out=${3#--out=}
mkdir -p "$out"
[ ! -e "$FAKES/result.json" ] || cp "$FAKES/result.json" "$out"
echo '::error::a'
[ -z "${CANCELLED:-}" ] || { trap 'exit 3' TERM; kill -INT $PPID; sleep 10 >/dev/null 2>&1 & wait; }
exit "${CODE:-0}"
`,
}

// actionRun is the outcome of a run of the action.
type actionRun struct {
	code      int
	arguments []string
	url       string
	log       string
	predicate string
}

// runAction runs the script in an empty folder, with the inputs as environment variables, as in action.yml.
func runAction(t *testing.T, inputs map[string]string, environment ...string) (r actionRun) {
	t.Helper()
	script, err := filepath.Abs("../../.ci/action")
	require.NoError(t, err)
	folder, bin := t.TempDir(), t.TempDir()
	for name, text := range fakes {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700))
		// Each archive of it has one checksum.
		require.NoError(t, os.Chtimes(filepath.Join(bin, name), time.Unix(0, 0), time.Unix(0, 0)))
	}
	step := exec.Command("bash", script)
	step.Dir = folder
	step.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "FAKES="+bin,
		"GITHUB_ACTION_PATH="+bin, "GITHUB_SERVER_URL=https://git.example", "GITHUB_REPOSITORY=a/b", "GITHUB_RUN_ID=7",
		"RUNNER_TEMP="+t.TempDir(), "RUNNER_OS=Linux", "RUNNER_ARCH=X64")
	for name, value := range actionInputs(t) {
		if given, ok := inputs[name]; ok {
			value = given
		}
		step.Env = append(step.Env, strings.ReplaceAll(strings.ToUpper(name), "-", "_")+"="+value)
	}
	step.Env = append(step.Env, environment...)
	var log strings.Builder
	step.Stdout, step.Stderr = &log, &log
	require.NoError(t, os.WriteFile(filepath.Join(bin, "result.json"), []byte("{}"), 0o600))
	if err := step.Run(); err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	r.code, r.log = step.ProcessState.ExitCode(), log.String()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(bin, name))
		if !os.IsNotExist(err) {
			require.NoError(t, err)
		}
		return string(text)
	}
	if text := read("arguments"); text != "" {
		r.arguments = strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
	}
	r.url = read("url")
	predicate, _ := os.ReadFile(filepath.Join(folder, "agentconform-out", "test-result.json")) // the file need not exist
	r.predicate = string(predicate)
	assert.NoFileExists(t, filepath.Join(folder, "ran"), "a shell has read an input")
	return r
}

// actionInputs returns the inputs of action.yml with their defaults, and checks that its step passes each to the
// script.
func actionInputs(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &action))
	inputs := map[string]string{}
	for name, input := range action.Inputs {
		inputs[name] = input.Default
	}
	for _, name := range []string{"artifact", "subject-name", "subject-digest"} { // inputs of other steps
		delete(inputs, name)
	}
	step := action.Runs.Steps[1]
	require.NotContains(t, step.Run, "${{", "an expression in a script is text that bash reads: pass it by env")
	for name := range inputs {
		assert.Equal(t, "${{ inputs."+name+" }}", step.Env[strings.ReplaceAll(strings.ToUpper(name), "-", "_")])
	}
	return inputs
}

// TestInputsOfTheAction checks that each line of an input becomes one argument and that no shell interprets it.
func TestInputsOfTheAction(t *testing.T) {
	for name, c := range map[string]struct {
		inputs map[string]string
		want   []string
	}{
		"none": {nil, []string{"--out=agentconform-out", "--config=agentconform.yaml"}},
		"an address": {map[string]string{"target": "https://a b.example/?x=$(touch ran)"},
			[]string{"--out=agentconform-out", "--target=https://a b.example/?x=$(touch ran)"}},
		"a file that is not there": {map[string]string{"agent-target": "http://a", "config": "lost.yaml"},
			[]string{"--out=agentconform-out", "--agent-target=http://a", "--config=lost.yaml"}},
		"quotes and CRLF": {map[string]string{"out": "re 'ports", "baseline": `my "known".yaml`, "fail-on": "should\r\n@a and not @b\r\n"},
			[]string{"--out=re 'ports", "--config=agentconform.yaml", `--baseline=my "known".yaml`, "--fail-on=should", "--fail-on=@a and not @b"}},
		"arguments": {map[string]string{"arguments": "\n --plan\r\n\n`touch ran`\n; touch ran\n$HOME *\nback\\slash\n::error::x\n100%0A"},
			[]string{"--out=agentconform-out", "--config=agentconform.yaml",
				" --plan", "`touch ran`", "; touch ran", "$HOME *", `back\slash`, "::error::x", "100%0A"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runAction(t, c.inputs)
			assert.Equal(t, append([]string{"run", "--format=github"}, c.want...), r.arguments)
			assert.Equal(t, "::error::a\n", r.log)
		})
	}
}

// TestExitCodeOfTheAction checks that the action ends with the exit code of the program, even if the job is canceled.
func TestExitCodeOfTheAction(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 1, runAction(t, nil, "CODE=1").code)
	assert.Equal(t, 3, runAction(t, nil, "CANCELLED=1").code, "a job that is cancelled ends its test run")
}

// TestPredicateOfTheAction checks that the predicate is written only on request and only if there is a result of this
// test run. The target need not be conformant.
func TestPredicateOfTheAction(t *testing.T) {
	t.Parallel()
	assert.Empty(t, runAction(t, nil).predicate)
	signed := map[string]string{"attest": "true"}
	const want = "attest --predicate --url=https://git.example/a/b/actions/runs/7 -- agentconform-out/result.json\n"
	r := runAction(t, signed, "CODE=1")
	assert.Equal(t, want, r.predicate)
	assert.Equal(t, 1, r.code)
	assert.Empty(t, runAction(t, signed, "CODE=2").predicate)
}

// TestReleaseOfTheAction checks that a release is run only if its archive has one of the given checksums.
func TestReleaseOfTheAction(t *testing.T) {
	t.Parallel()
	r := runAction(t, map[string]string{"version": "v1.2.3"})
	const release = "https://github.com/agentconform/agentconform/releases/download/v1.2.3/"
	assert.Equal(t, release+"agentconform_1.2.3_linux_amd64.tar.gz", r.url)
	assert.True(t, strings.HasPrefix(r.log, "::error title=agentconform::the checksum of"), r.log)
	assert.Equal(t, 2, r.code)
	assert.Nil(t, r.arguments)
	_, sum, _ := strings.Cut(r.log, ".tar.gz is ")
	sum = sum[:64]

	r = runAction(t, map[string]string{"version": "1.2.3", "checksum": strings.Repeat("0", 64) + "\r\n" + sum + "\r\n"})
	assert.Zero(t, r.code)
	assert.Equal(t, "run", r.arguments[0])
	r = runAction(t, map[string]string{"version": "../1", "checksum": sum})
	assert.Equal(t, 2, r.code)
	assert.Empty(t, r.url)
}
