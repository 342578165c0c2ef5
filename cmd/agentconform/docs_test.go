package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	all := map[string]string{}
	for _, name := range append(names, "../../README.md", "../../docs/examples/README.md") {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		all[name] = string(text)
	}
	return all
}

func TestLinksOfTheDocumentsExist(t *testing.T) {
	for name, text := range pages(t) {
		for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(text, -1) {
			if !strings.Contains(m[1], "://") {
				_, err := os.Stat(filepath.Join(filepath.Dir(name), m[1]))
				assert.NoError(t, err, name)
			}
		}
	}
	for name := range pages(t) {
		if filepath.Base(name) != "README.md" {
			assert.Contains(t, pages(t)["../../README.md"], "](docs/"+filepath.Base(name)+")")
		}
	}
}

// TestCommandsInTheDocumentsExist checks the commands and flags of agentconform in the documents.
func TestCommandsInTheDocumentsExist(t *testing.T) {
	all := pages(t)
	manifests, err := filepath.Glob("../../docs/kubernetes/*.y*ml")
	require.NoError(t, err)
	for _, name := range manifests {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		all[name] = strings.ReplaceAll(string(text), "args: [", "agentconform ")
	}
	call := regexp.MustCompile("agentconform (run|init|doctor|replay|clean|explain|serve|schema|compare|attest|prove|list)\\b([^`\n&|>]*)")
	found := 0
	for name, text := range all {
		for _, m := range call.FindAllStringSubmatch(text, -1) {
			c, _, err := newRoot().Find([]string{m[1]})
			require.NoError(t, err, "%s: %s", name, m[0])
			own, _, _ := strings.Cut(m[2], " -- ") // another command may follow
			for _, flag := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(own, -1) {
				found++
				assert.NotNil(t, c.Flags().Lookup(flag[1]), "%s: %s has no flag --%s", name, m[1], flag[1])
			}
		}
	}
	assert.Greater(t, found, 20)
}

// TestInputsOfTheActionExist checks the inputs in the workflow of docs/ci.md.
func TestInputsOfTheActionExist(t *testing.T) {
	action, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	given := regexp.MustCompile(`uses: agentconform/.*\n +with:\n((?: {10}.*\n)+)`).FindStringSubmatch(pages(t)["../../docs/ci.md"])
	require.NotNil(t, given)
	for _, name := range regexp.MustCompile(`(?m)^ {10}([a-z-]+):`).FindAllStringSubmatch(given[1], -1) {
		assert.Contains(t, string(action), "\n  "+name[1]+":")
	}
}
