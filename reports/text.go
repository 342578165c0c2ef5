package reports

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Joined returns the texts that are not empty, with a separator between them.
func Joined(separator string, texts ...string) string {
	var parts []string
	for _, text := range texts {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, separator)
}

// String returns the versions: "agentconform 0.1.0 (commit 1234567), interface 0.1.0, requirements sha256:12345678".
func (suite Suite) String() string {
	text := "agentconform " + suite.Version
	commit, _, dirty := strings.Cut(suite.Commit, "+")
	switch {
	case commit == "":
	case dirty:
		text += fmt.Sprintf(" (commit %.12s, changed)", commit)
	default:
		text += fmt.Sprintf(" (commit %.12s)", commit)
	}
	text += ", interface " + suite.Interface
	if suite.Digest != "" {
		text += fmt.Sprintf(", requirements %.15s", suite.Digest)
	}
	return text
}

// SectionText returns the text for sections of the interface: "interface, sections 4, 8".
func SectionText(sections string) string {
	if strings.Contains(sections, ",") {
		return "interface, sections " + sections
	}
	return "interface, section " + sections
}

// specification is the address of the page that make spec-page creates. The IDs of requirements are its anchors.
const specification = "https://agentconform.github.io/agentconform/#"

// ExcludedURL is the address of the list of subjects that no requirement judges, with the reasons.
const ExcludedURL = specification + "excluded"

// RuleURL returns the address of a requirement in the specification.
func RuleURL(id string) string { return specification + url.QueryEscape(id) }

// String describes an entry of the baseline: "the reason (owner, until 2026-12-31)".
func (k *Known) String() string {
	until, flaky := "", ""
	if k.Flaky {
		flaky = "flaky"
	}
	if k.Expires != "" {
		until = "until " + k.Expires
	}
	if details := Joined(", ", k.Owner, until, flaky); details != "" {
		return k.Reason + " (" + details + ")"
	}
	return k.Reason
}

// Attribution returns the name that the exchanges of the scenario have in [Exchange].Scenario.
func (s *Scenario) Attribution() string { return s.Key() + " " + s.Name }

// ScenarioOf returns the scenario of q that produced the finding, or nil.
func (q *Requirement) ScenarioOf(f *Finding) *Scenario {
	for s := range Each(q.Scenarios) {
		if s.Key() == f.Scenario {
			return s
		}
	}
	return nil
}

// Attempts returns in how many attempts a finding was seen: "in 1 of 2 attempts". It returns "" if its scenario was
// judged only once.
func (f *Finding) Attempts() string {
	if f.Judged < 2 {
		return ""
	}
	return fmt.Sprintf("in %d of %d attempts", f.Seen, f.Judged)
}

// Duration returns the text for a number of milliseconds: "12 ms", "1.5 s", "2m3s".
func Duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	if d >= time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", ms)
}

// Slug converts a title to an id: lower case words, joined by dashes.
func Slug(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
