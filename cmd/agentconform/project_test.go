package main

import (
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

const module = "github.com/agentconform/agentconform/"

// importRules has a line for each folder, with its packages in layers:
//
//	steps: . > doctor replay > suite -> features spec
//
// A package may import the packages of its line after a later ">", and those after "->".
const importRules = `
cmd: agentconform freeze -> *
reference/prover: . -> *
interop: . independent/serve > independent -> steps/config
steps/conformance: . -> steps steps/config steps/suite reports reports/baseline reports/console reports/export reports/overview reports/safe
steps: . > doctor replay > suite > explore endtoend > controlplane agentserver invariants > situations > common > recording > agent > plane > target > controlplane/judge agentserver/judge > common/judge > outcome/judgetest > shared messages > outcome evidence > client > exchange config -> features spec spec/requirements spec/spelling reports reports/outfile reports/safe
features: . -> reports spec/requirements spec/spelling
reports: export compare proof baseline attest > badge cucumber events github har html junit markdown support > console > overview internal/reporttest > script > story outfile > . > safe
spec: . > requirements > spelling
reference: hostile/run > hostile mutants > faults > deviate > . > agentserver fixtures graphs > controlplane > store source script internal/contractcheck > httpapi -> features spec spec/spelling
`

// allowedImports returns what each package may import.
func allowedImports(rules string) map[string][]string {
	allowed := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(rules)) {
		folder, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		inside, outside, _ := strings.Cut(rest, "->")
		below := strings.Fields(outside)
		for _, layer := range slices.Backward(strings.Split(inside, ">")) {
			names := strings.Fields(layer)
			for i := range names {
				names[i] = filepath.ToSlash(filepath.Join(folder, names[i]))
				allowed[names[i]] = below
			}
			below = slices.Concat(below, names)
		}
	}
	return allowed
}

func TestImportsPointOneWay(t *testing.T) {
	allowed := allowedImports(importRules)
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	list.Dir = "../.."
	out, err := list.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := strings.TrimPrefix(words[0], module)
		for _, imported := range words[1:] {
			to, ours := strings.CutPrefix(imported, module)
			isAllowed := !ours || slices.Contains(allowed[from], to) || slices.Contains(allowed[from], "*")
			assert.True(t, isAllowed, "%s imports %s, which importRules does not allow", from, to)
		}
	}
}

// TestNoticeNamesWhatIsLinked compares NOTICE with the modules that are linked into the binary. A line has a module, or
// a folder of a module with its own license, the version and the license.
func TestNoticeNamesWhatIsLinked(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../NOTICE")
	require.NoError(t, err)
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".").Output()
	require.NoError(t, err)
	named := map[string]bool{} // modules that are linked
	for line := range strings.FieldsFuncSeq(string(out), func(r rune) bool { return r == '\n' }) {
		named[strings.TrimSuffix(line, "+incompatible")] = false // go-licenses omits it
	}
	head, _, _ := strings.Cut(string(page), "==========\n")
	for _, m := range regexp.MustCompile(`(?m)^(\S+\.\S+) (v\S+) (\S+)$`).FindAllStringSubmatch(head, -1) {
		linked := false
		for module := range named {
			if path, version, _ := strings.Cut(module, " "); version == m[2] && strings.HasPrefix(m[1]+"/", path+"/") {
				named[module], linked = true, true
			}
		}
		assert.True(t, linked, "NOTICE names %s, which is not linked: run make notice", m[1])
		assert.Contains(t, []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}, m[3], "a license that was not reviewed: %s", m[1])
	}
	for module, isNamed := range named {
		assert.True(t, isNamed, "NOTICE does not name %s: run make notice", module)
	}
}

// TestActionsAreNamedByCommit checks that actions are pinned by commit, because a tag can be moved to other code. The
// release is in a comment, which Dependabot updates.
func TestActionsAreNamedByCommit(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: *(.*)$`)
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	own := regexp.MustCompile(`^agentconform/agentconform@`) // the reader fills in the commit
	for _, file := range append(files, "../../action.yml", "../../docs/ci.md", "../../docs/kubernetes/matrix.yml") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found := uses.FindAllStringSubmatch(string(text), -1)
		assert.NotEmpty(t, found, file)
		for _, use := range found {
			if own.MatchString(use[1]) {
				continue
			}
			assert.Regexp(t, pinned, use[1], file)
		}
	}
}
