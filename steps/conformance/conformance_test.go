package conformance_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	module = "github.com/agentconform/agentconform"
)

// vendor is the module in testdata/module, compiled with the requirements and checksums of this one.
type vendor struct{ dir, binary string }

func newVendor(t *testing.T) vendor {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/module")))
	ours, err := filepath.Abs(root)
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	text := strings.Replace(string(mod), "module "+module, "module example.com/api", 1) +
		"\nrequire " + module + " v0.0.0\nreplace " + module + " => " + ours + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
	v := vendor{dir, filepath.Join(dir, "api.test")}
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-mod=mod", "-vet=off", "-o", v.binary, ".")
	build.Dir = dir
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return v
}

// tests runs tests of the module. It returns their output, the failed tests, and the requests that the server received.
func (v vendor) tests(t *testing.T, pattern, timeout string, environ ...string) (said string, failed, sent []string) {
	list := filepath.Join(t.TempDir(), "requests")
	command := exec.CommandContext(t.Context(), v.binary, "-test.v", "-test.timeout="+timeout, "-test.run="+pattern)
	command.Dir, command.Env = v.dir, append(append(os.Environ(), "REQUESTS="+list), environ...)
	out, err := command.CombinedOutput()
	for _, line := range regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`).FindAllStringSubmatch(string(out), -1) {
		failed = append(failed, line[1])
	}
	assert.Equal(t, err != nil, failed != nil, "%s", out)
	requests, _ := os.ReadFile(list) // the file does not exist if nothing was sent
	return string(out), failed, slices.Collect(strings.Lines(string(requests)))
}

// TestAModuleOfItsOwn uses the package as a vendor does.
func TestAModuleOfItsOwn(t *testing.T) {
	t.Parallel()
	known := filepath.Join(t.TempDir(), "known.yaml")
	entry := "version: 1\nknown: [{requirement: CP-LIST-3, reason: slow, owner: us}]\n"
	require.NoError(t, os.WriteFile(known, []byte(entry), 0o600))
	out, v := t.TempDir(), newVendor(t)
	for name, c := range map[string]struct {
		run, timeout string
		environ      []string
		failed       []string
		says         []string
		most         int    // requests
		path         string // path of all requests
	}{
		"a server that conforms": {
			run: "^TestAPI$", most: 6000,
			says: []string{"--- PASS: TestAPI/AS-ROLLBACK-1", "--- SKIP: TestAPI/CP-REV-6",
				"skipped: not configured: set alternatives.commits", "requirements tested, no MUST failed"},
		},
		"one mistake": {
			run: "^TestAPI$", environ: []string{"MISTAKE=limit"}, most: 6000,
			failed: []string{"TestAPI", "TestAPI/CP-LIST-3"},
			says:   []string{"revisions?limit=0'", "Try: go test -run '^TestAPI$/^CP-LIST-3$'"},
		},
		"one requirement": {
			run: "^TestAPI$/^CP-AUTH-5$", most: 16, path: "/shared/box/v2/deployments",
			says: []string{"--- PASS: TestAPI/CP-AUTH-5"},
		},
		"no requirement": {run: "^TestAPI$/^NONE$"},
		"a rule of the record": {
			run: "^TestAPI$/^CP-INVARIANT-1$", most: 2,
			failed: []string{"TestAPI", "TestAPI/CP-INVARIANT-1"}, says: []string{"also select requirements that send requests"},
		},
		"two at the same time, of which one counts a SHOULD as a MUST": {
			run: "^TestBoth$/./^CP-AUTH-[58]$", environ: []string{"MISTAKE=forwarded", "OUT=" + out}, most: 80,
			failed: []string{"TestBoth", "TestBoth/second", "TestBoth/second/CP-AUTH-8"},
			says: []string{"SKIP: TestBoth/first/CP-AUTH-8", "SHOULD not met, which does not fail the test",
				"-- bash " + out + "/scripts/CP-AUTH-8-", out + "/index.html"},
		},
		"a known failure": {
			run: "^TestBoth$/second/^CP-LIST-3$", environ: []string{"MISTAKE=limit", "KNOWN=" + known}, most: 600,
			says: []string{"--- SKIP: TestBoth/second/CP-LIST-3", "known failure: slow (us)"},
		},
		"a known failure that passes": {
			run: "^TestBoth$/second/^CP-LIST-3$", environ: []string{"KNOWN=" + known}, most: 600,
			failed: []string{"TestBoth", "TestBoth/second"}, says: []string{"passes; remove the entry"},
		},
		"a server that is closed with defer": {
			run: "^TestClosed$/^CP-AUTH-1$", most: 600, says: []string{"--- PASS: TestClosed/CP-AUTH-1"},
		},
		"a server that refuses everything": {
			run: "^TestRefusal$", failed: []string{"TestRefusal"},
			says: []string{"no successful response of the control plane was seen"},
		},
		"too little time": {
			run: "^TestAPI$/^CP-UPDATE-1$", timeout: "8s", environ: []string{"MISTAKE=hang"}, most: 500,
			failed: []string{"TestAPI", "TestAPI/CP-UPDATE-1"}, says: []string{"stopped by the deadline of go test -timeout"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, failed, requests := v.tests(t, c.run, cmp.Or(c.timeout, "2m"), c.environ...)
			assert.NotContains(t, said, "agentconform replay")
			slices.Sort(failed)
			assert.Equal(t, c.failed, failed, said)
			for _, text := range c.says {
				assert.Contains(t, said, text)
			}
			assert.LessOrEqual(t, len(requests), c.most)
			for _, request := range requests {
				assert.Contains(t, request, c.path)
			}
		})
	}
}
