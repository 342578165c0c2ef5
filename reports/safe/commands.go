package safe

import (
	"regexp"
	"strings"
)

// commands finds what continuous integration systems take for a command wherever it is in a line of a log: "##[error]"
// and "##vso[...]" (Azure Pipelines, GitHub Actions), "##teamcity[...]", "section_start:" (GitLab), "travis_fold:".
var commands = regexp.MustCompile(`(?i)(##(?:vso|teamcity)?)(\[)|((?:section_(?:start|end)|travis_(?:fold|time)))(:)`)

var colons = regexp.MustCompile(`::([A-Za-z])`)

// WithoutCommands puts a backslash into what a continuous integration system would take for a command. "::name ...::" is
// a command of GitHub Actions at the beginning of a line; it is broken everywhere, since a line may be wrapped before
// it.
func WithoutCommands(s string) string {
	if strings.Contains(s, "##") || strings.Contains(s, "_") { // the fast way out
		s = commands.ReplaceAllString(s, `$1$3\$2$4`)
	}
	if !strings.Contains(s, "::") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.Count(line, "::") > 1 {
			lines[i] = colons.ReplaceAllString(line, `:\:$1`)
		}
	}
	return strings.Join(lines, "\n")
}

// jsonCommands finds those of a JSON text. A line of JSON never begins with "::".
var jsonCommands = regexp.MustCompile(`(?i)##((?:vso|teamcity)?\[)`)
