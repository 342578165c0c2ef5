package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoticeNamesWhatIsLinked compares NOTICE with the modules of the packages that the binary is built from. A line of it names a module, or a
// folder of one with a licence of its own, then the version and the licence.
func TestNoticeNamesWhatIsLinked(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../NOTICE")
	require.NoError(t, err)
	listed, texts := map[string]string{}, strings.SplitAfter(string(page), "==========\n")
	text := map[string]string{} // by licence and module
	for _, part := range texts[1:] {
		title, rest, _ := strings.Cut(part, "\n\n")
		licence, modules, _ := strings.Cut(title, "\nfor ")
		for line := range strings.SplitSeq(modules, ", ") {
			text[licence+" "+line] = rest
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^(\S+\.\S+/\S+|\S+\.\S+) (v\S+) (\S+)$`).FindAllStringSubmatch(texts[0], -1) {
		listed[m[1]+" "+m[2]] = m[3]
	}
	require.Greater(t, len(listed), 30)
	for line, licence := range listed {
		assert.Contains(t, []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}, licence, "a licence that nobody has looked at: %s", line)
		assert.Greater(t, len(text[licence+" "+line]), 500, "%s has no text of its licence", line)
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".").Output()
	require.NoError(t, err)
	linked := map[string]bool{}
	for line := range strings.FieldsFuncSeq(string(out), func(r rune) bool { return r == '\n' }) {
		linked[strings.TrimSuffix(line, "+incompatible")] = true // go-licenses leaves it out
	}
	covered := map[string]bool{}
	for line := range listed {
		covered[moduleOf(line, linked)] = true
		assert.NotEmpty(t, moduleOf(line, linked), "NOTICE names %s, which is not linked: run make notice", line)
	}
	for line := range linked {
		assert.True(t, covered[line], "NOTICE does not name %s: run make notice", line)
	}
}

// moduleOf finds the module of a line of NOTICE, with the same version; "" where there is none.
func moduleOf(line string, linked map[string]bool) string {
	path, version, _ := strings.Cut(line, " ")
	for {
		if linked[path+" "+version] {
			return path + " " + version
		}
		at := strings.LastIndexByte(path, '/')
		if at < 0 {
			return ""
		}
		path = path[:at]
	}
}
