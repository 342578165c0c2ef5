package markdown_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/markdown"
)

func TestMarkdown(t *testing.T) {
	reporttest.Exporter{File: "summary.md", Write: markdown.Write, Check: checkMarkdown, Limit: 3 << 20}.Test(t)
}

// toRules matches the links from IDs to the specification.
var toRules = regexp.MustCompile("\\[`[A-Za-z0-9-]+`\\]\\(https://agentconform\\.github\\.io/agentconform/#[A-Za-z0-9-]+\\)")

// checkMarkdown checks that text of the target is not markup: outside of code there are only the tags of the summary, no
// mention, and no link except those from IDs.
func checkMarkdown(t *testing.T, doc []byte) {
	t.Helper()
	assert.LessOrEqual(t, len(doc), 500<<10)
	fence := ""
	for _, line := range strings.Split(string(doc), "\n") {
		if fence != "" {
			if line == fence {
				fence = ""
			}
			continue
		}
		if strings.HasPrefix(line, "```") {
			fence = strings.TrimRight(line, "sh")
			continue
		}
		line = toRules.ReplaceAllString(line, "")
		prose := strings.NewReplacer("<br>", "", "<details>", "", "</details>", "", "<summary>", "", "</summary>", "").Replace(withoutCode(line))
		for i, c := range prose {
			if strings.ContainsRune("<[`", c) {
				assert.True(t, i > 0 && prose[i-1] == '\\', "unescaped %q in %.200q", c, line)
			}
		}
		assert.NotContains(t, prose, "://")
		assert.NotContains(t, prose, "@")
	}
	assert.Empty(t, fence, "every code block is closed")
}

// withoutCode removes code spans: a run of backticks up to the next run of the same length.
func withoutCode(line string) string {
	runs := regexp.MustCompile("\\\\.|`+").FindAllStringIndex(line, -1)
	var b strings.Builder
	at := 0
	for i, open := range runs {
		if open[0] < at || line[open[0]] == '\\' {
			continue
		}
		for _, end := range runs[i+1:] {
			if line[end[0]] == '`' && end[1]-end[0] == open[1]-open[0] {
				b.WriteString(line[at:open[0]])
				at = end[1]
				break
			}
		}
	}
	return b.String() + line[at:]
}
