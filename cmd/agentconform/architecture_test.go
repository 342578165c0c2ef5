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

// layering is one line of the import rules: the packages of a folder from top to bottom, and what they may use of others.
type layering struct {
	folder  string
	layers  [][]string // paths below the module, from top to bottom
	outside []string
}

// importRules reads the block of rules in ARCHITECTURE.md:
//
//	steps: . > doctor replay > suite -> features spec
//
// A package may import those of its own line that stand behind a later ">", and those named behind "->".
func importRules(text string) (rules []layering) {
	block := regexp.MustCompile("(?s)```imports\n(.*?)```").FindStringSubmatch(text)
	if block == nil {
		return nil
	}
	for line := range strings.Lines(block[1]) {
		folder, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		inside, outside, _ := strings.Cut(rest, "->")
		l := layering{folder: folder, outside: strings.Fields(outside)}
		for layer := range strings.SplitSeq(inside, ">") {
			var names []string
			for _, name := range strings.Fields(layer) {
				names = append(names, filepath.ToSlash(filepath.Join(folder, name)))
			}
			l.layers = append(l.layers, names)
		}
		rules = append(rules, l)
	}
	return rules
}

// violation says why the rules do not allow a package to import another one, or "".
func violation(rules []layering, from, to string) string {
	for _, l := range rules {
		at := slices.IndexFunc(l.layers, func(names []string) bool { return slices.Contains(names, from) })
		if at < 0 {
			continue
		}
		below := slices.ContainsFunc(l.layers[at+1:], func(names []string) bool { return slices.Contains(names, to) })
		if below || slices.Contains(l.outside, to) || slices.Contains(l.outside, "*") {
			return ""
		}
		return from + " imports " + to + ", which is neither below it nor among what " + l.folder + " may use"
	}
	return from + " has no place in the import rules of ARCHITECTURE.md"
}

func TestImportsPointOneWay(t *testing.T) {
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	require.NoError(t, err)
	rules := importRules(string(text))
	require.NotEmpty(t, rules)
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	list.Dir = "../.."
	out, err := list.Output()
	require.NoError(t, err)
	checked := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		for _, imported := range words[1:] {
			if to, ours := strings.CutPrefix(imported, module); ours {
				checked++
				assert.Empty(t, violation(rules, strings.TrimPrefix(words[0], module), to))
			}
		}
	}
	assert.Greater(t, checked, 100)
}
