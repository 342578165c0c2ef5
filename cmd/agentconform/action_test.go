package main

import (
	"encoding/json"
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
// records its arguments, prints text of a hostile target, and writes a result.
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
printf '%s\0' "$@" >"$FAKES/arguments"
printf '::error::a\n  ::set-output name=verdict::conformant\n##[add-path]x\n::add-mask::e'
printf '::warning::b\n' >&2
out=${2#--out=}
mkdir -p "$out"
[ ! -e "$FAKES/result.json" ] || cp "$FAKES/result.json" "$out"
[ -z "${CANCELLED:-}" ] || { trap 'exit 3' TERM; kill -INT $PPID; sleep 10 >/dev/null 2>&1 & wait; }
exit "${CODE:-0}"
`,
}

// actionRun is the outcome of a run of the action.
type actionRun struct {
	code      int
	arguments []string
	url       string
	commands  []string // lines of the log in which GitHub interprets commands, without "::"
	outputs   string   // the content of GITHUB_OUTPUT
}

// runAction runs the script in an empty folder, with the inputs as environment variables, as in action.yml.
func runAction(t *testing.T, inputs map[string]string, result string, environment ...string) (r actionRun) {
	t.Helper()
	script, err := filepath.Abs("../../.ci/action")
	require.NoError(t, err)
	folder, bin := t.TempDir(), t.TempDir()
	for name, text := range fakes {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700))
		// Each archive of it has one checksum.
		require.NoError(t, os.Chtimes(filepath.Join(bin, name), time.Unix(0, 0), time.Unix(0, 0)))
	}
	if result != "" {
		require.NoError(t, os.WriteFile(filepath.Join(bin, "result.json"), []byte(result), 0o600))
	}
	step := exec.Command("bash", script)
	step.Dir = folder
	step.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "FAKES="+bin,
		"GITHUB_ACTION_PATH="+bin, "GITHUB_OUTPUT="+filepath.Join(bin, "output"),
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
	if err := step.Run(); err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	r.code, r.commands = step.ProcessState.ExitCode(), commandsOf(log.String())
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
	r.url, r.outputs = read("url"), read("output")
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
	delete(inputs, "artifact") // of another step
	step := action.Runs.Steps[1]
	require.NotContains(t, step.Run, "${{", "an expression in a script is text that bash reads: pass it by env")
	for name := range inputs {
		assert.Equal(t, "${{ inputs."+name+" }}", step.Env[strings.ReplaceAll(strings.ToUpper(name), "-", "_")])
	}
	return inputs
}

// commandsOf returns the lines of a log outside of the block in which GitHub ignores commands.
func commandsOf(log string) (all []string) {
	stopped := ""
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\n")
		text, isCommand := strings.CutPrefix(line, "::")
		token, stops := strings.CutPrefix(text, "stop-commands::")
		switch {
		case stopped != "":
			if line == "::"+stopped+"::" {
				stopped = ""
			}
		case stops:
			stopped = token
		case isCommand:
			all = append(all, text)
		case line != "":
			all = append(all, "text: "+line)
		}
	}
	return all
}

// TestInputsOfTheAction checks that each line of an input is one argument, and is not interpreted by a shell.
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
			r := runAction(t, c.inputs, "")
			assert.Equal(t, append([]string{"run"}, c.want...), r.arguments)
			assert.Empty(t, r.commands)
		})
	}
}

// TestAnnotationsOfTheAction checks that GitHub shows one annotation for each cause, with the unchanged text of the
// result, even for a hostile target.
func TestAnnotationsOfTheAction(t *testing.T) {
	t.Parallel()
	const awkward = "100% of 50%25\r\n::error file=a,line=1::b, c: d %0A ##[error]e\t"
	reason, err := json.Marshal(awkward)
	require.NoError(t, err)
	requirement := func(id, more string) string {
		return `{"id": "` + id + `", "level": "MUST", "verdict": "failed", "title": "T,:%", "reason": ` + string(reason) + more + `}`
	}
	result := `{"verdict": "non-conformant", "headline": "8 MUSTs", "run": {}, "counts": {"requirements": {"failed": 4}},
		"baseline": {"stale": ["old: %"]}, "requirements": [` + strings.Join([]string{
		requirement("A,::%", ""), requirement("B", `, "explained_by": ["A"]`), requirement("C", `, "known": {"reason": "r"}`),
		requirement("D", `, "verdict": "passed"`), requirement("E", `, "level": "SHOULD"`),
		requirement("F", `, "level": "SHOULD", "binding": true`)}, ",") + `]}`
	r := runAction(t, map[string]string{"out": "re ports=%0A$(touch ran)"}, result, "CODE=1")
	const text = "::T,:%25%0A100%25 of 50%2525%0D%0A::error file=a,line=1::b, c: d %250A ##[error]e\t"
	assert.Equal(t, []string{"error title=A%2C%3A%3A%25 MUST" + text, "warning title=E SHOULD" + text, "error title=F SHOULD" + text,
		"error title=baseline::old: %25"}, r.commands)
	assert.Regexp(t, `^verdict=non-conformant\ncounts=\{"failed":4\}\nreport<<\w{32}\nre ports=%0A\$\(touch ran\)/index.html\n\w{32}\n$`, r.outputs)
	assert.Equal(t, 1, r.code)

	incomplete := `{"verdict": "incomplete", "headline": "no answer", "counts": {"requirements": {}}, "requirements": []}`
	r = runAction(t, nil, incomplete, "CODE=3")
	assert.Equal(t, []string{"error title=exit code 3::no answer"}, r.commands)
	r = runAction(t, nil, incomplete, "CANCELLED=1")
	assert.Equal(t, 3, r.code, "a job that is cancelled ends its run, and reports it")
	assert.Len(t, r.commands, 1)
	r = runAction(t, nil, result, "CODE=2")
	assert.Empty(t, r.commands, "wrong usage: the result is of an earlier run")
}

// TestReleaseOfTheAction checks that a release is run only if its archive has one of the given checksums.
func TestReleaseOfTheAction(t *testing.T) {
	t.Parallel()
	r := runAction(t, map[string]string{"version": "v1.2.3"}, "")
	const release = "https://github.com/agentconform/agentconform/releases/download/v1.2.3/"
	assert.Equal(t, release+"agentconform_1.2.3_linux_amd64.tar.gz", r.url)
	require.Len(t, r.commands, 1)
	assert.Equal(t, 2, r.code)
	assert.Nil(t, r.arguments)
	_, sum, _ := strings.Cut(r.commands[0], ".tar.gz is ")
	sum = sum[:64]

	r = runAction(t, map[string]string{"version": "1.2.3", "checksum": strings.Repeat("0", 64) + "\r\n" + sum + "\r\n"}, "")
	assert.Empty(t, r.commands)
	assert.Equal(t, "run", r.arguments[0])
	r = runAction(t, map[string]string{"version": "../1", "checksum": sum}, "")
	assert.Equal(t, 2, r.code)
	assert.Empty(t, r.url)
}
