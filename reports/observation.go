package reports

import (
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports/safe"
)

// Observation says in one line what was seen: "expected status 404, got status 200"; "" where nothing was compared.
func (f *Finding) Observation() string {
	if f.Expected == "" || f.Actual == "" {
		return ""
	}
	return fmt.Sprintf("expected %s, got %s", firstLine(f.Expected), firstLine(f.Actual))
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
