package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports/safe"
)

// Observation says in one line what was seen, with the field that it is about where the words do not name it: "repo_ref:
// expected "main", got null"; with the operation where it is about a status: "list-revisions: expected status 422, got
// status 200 with a list of 20 revisions". Where nothing was compared it is the summary.
func (f *Finding) Observation() string {
	if f.Expected == "" || f.Actual == "" {
		return f.Summary
	}
	line := fmt.Sprintf("expected %s, got %s", firstLine(f.Expected), firstLine(f.Actual))
	about := f.field()
	if about == "" && f.ofStatus() {
		about = f.Operation
	}
	if about != "" && !strings.Contains(line, about) {
		return safe.Ellipsis(about, 40) + ": " + line
	}
	return line
}

var onlyStatus = regexp.MustCompile(`^status \d(xx|\d{2})(, \d{3})*( or \d{3})?$`)

// ofStatus tells whether nothing but the status was expected.
func (f *Finding) ofStatus() bool { return onlyStatus.MatchString(f.Expected) }

// field is the last name in the pointer: "/resources/*/status" is about status.
func (f *Finding) field() string {
	segments := strings.Split(f.Pointer, "/")
	for _, segment := range slices.Backward(segments) {
		if segment != "*" && strings.Trim(segment, "0123456789") != "" {
			return strings.NewReplacer("~1", "/", "~0", "~").Replace(segment)
		}
	}
	return ""
}

// ObservedWhole tells whether [Finding.Observation] holds all of what was expected and of what was seen.
func (f *Finding) ObservedWhole() bool {
	return f.Expected != "" && f.Actual != "" && firstLine(f.Expected) == f.Expected && firstLine(f.Actual) == f.Actual
}

// maxLine bounds what was expected and what was seen in one line, in characters: a few words and one quote.
const maxLine = 120

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return safe.Ellipsis(line, maxLine)
}
