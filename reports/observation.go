package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports/safe"
)

// Observation says in one line what was seen, with the field that it is about where the words do not name it: "expected status 404, got
// status 200", "repo_ref: expected "main", got null"; "" where nothing was compared.
func (f *Finding) Observation() string {
	if f.Expected == "" || f.Actual == "" {
		return ""
	}
	line := fmt.Sprintf("expected %s, got %s", firstLine(f.Expected), firstLine(f.Actual))
	if field := f.field(); field != "" && !strings.Contains(line, field) {
		return safe.Ellipsis(field, 40) + ": " + line
	}
	return line
}

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
	return f.Observation() != "" && firstLine(f.Expected) == f.Expected && firstLine(f.Actual) == f.Actual
}

func firstLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more && len(line) <= 70 {
		return strings.TrimSpace(line) + " …"
	}
	return safe.Ellipsis(line, 70)
}
