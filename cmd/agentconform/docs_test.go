package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	all := map[string]string{}
	for _, name := range append(names, "../../README.md") {
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

// TestCommandsInTheDocumentsExist finds the command and the flags of each line of the documents that calls the program.
func TestCommandsInTheDocumentsExist(t *testing.T) {
	call := regexp.MustCompile("agentconform (run|init|doctor|replay|clean|explain|serve|schema|compare|prove|list)\\b([^`\n&|>]*)")
	flags := regexp.MustCompile(`--([a-z-]+)`)
	found := 0
	for name, text := range pages(t) {
		for _, m := range call.FindAllStringSubmatch(text, -1) {
			c, _, err := newRoot(streams{strings.NewReader(""), io.Discard, io.Discard}).Find([]string{m[1]})
			require.NoError(t, err, "%s: %s", name, m[0])
			for _, flag := range flags.FindAllStringSubmatch(m[2], -1) {
				found++
				assert.NotNil(t, c.Flags().Lookup(flag[1]), "%s: %s has no flag --%s", name, m[1], flag[1])
			}
		}
	}
	assert.Greater(t, found, 20)
	manifests, err := filepath.Glob("../../docs/kubernetes/*.y*ml")
	require.NoError(t, err)
	require.NotEmpty(t, manifests)
	for _, name := range manifests {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, arguments := range regexp.MustCompile(`args: \[run, (.*)\]`).FindAllStringSubmatch(string(text), -1) {
			for _, flag := range flags.FindAllStringSubmatch(arguments[1], -1) {
				assert.NotNil(t, newRun(streams{}).Flags().Lookup(flag[1]), "%s: run has no flag --%s", name, flag[1])
			}
		}
	}
}

func TestFilesForCIAreValid(t *testing.T) {
	page := pages(t)["../../docs/ci.md"]
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, -1)
	require.Len(t, blocks, 2)
	for _, b := range blocks {
		var file map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(b[1]), &file))
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string            `yaml:"uses"`
				With map[string]string `yaml:"with"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(blocks[0][1]), &workflow))
	text, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	var action struct {
		Inputs map[string]any `yaml:"inputs"`
	}
	require.NoError(t, yaml.Unmarshal(text, &action))
	ours := 0
	for _, step := range workflow.Jobs["conformance"].Steps {
		if strings.HasPrefix(step.Uses, "agentconform/") {
			for input := range step.With {
				assert.Contains(t, action.Inputs, input)
				ours++
			}
		}
	}
	assert.Equal(t, 3, ours)
}
