package reports

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Joined joins the texts that are not empty.
func Joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// String names what judged: "agentconform 0.1.0 (commit 1234567), interface 0.1.0, requirements sha256:12345678".
func (suite Suite) String() string {
	text := "agentconform " + suite.Version
	if commit, _, dirty := strings.Cut(suite.Commit, "+"); commit != "" {
		text += fmt.Sprintf(" (commit %.12s%s)", commit, map[bool]string{true: ", changed"}[dirty])
	}
	text += ", interface " + suite.Interface
	if suite.Digest != "" {
		text += fmt.Sprintf(", requirements %.15s", suite.Digest)
	}
	return text
}

// WhereFrom names the sections of the interface that a requirement is from.
func WhereFrom(sections string) string {
	if strings.Contains(sections, ",") {
		return "interface, sections " + sections
	}
	return "interface, section " + sections
}

// specification is where the page of all requirements is, which make spec-page makes. An ID is the anchor of its rule.
const specification = "https://agentconform.github.io/agentconform/#"

// RuleURL is the address of a requirement in the specification.
func RuleURL(id string) string { return specification + url.QueryEscape(id) }

// String describes an entry of the baseline: "the reason (owner, until 2026-12-31)".
func (k *Known) String() string {
	until, flaky := "", map[bool]string{true: "flaky"}[k.Flaky]
	if k.Expires != "" {
		until = "until " + k.Expires
	}
	if details := Joined(", ", k.Owner, until, flaky); details != "" {
		return k.Reason + " (" + details + ")"
	}
	return k.Reason
}

// ScenarioOf finds the scenario of q that a finding is from, or nil.
func (q *Requirement) ScenarioOf(f *Finding) *Scenario {
	for s := range Each(q.Scenarios) {
		if s.Key() == f.Scenario {
			return s
		}
	}
	return nil
}

// SeenText says in how many judgements of its scenario a finding was seen, where there were two; else "".
func (f *Finding) SeenText() string {
	switch {
	case f.Judged < 2:
		return ""
	case f.Seen < f.Judged:
		return "once of two judgements"
	}
	return "twice"
}

// Duration shows a number of milliseconds: "12 ms", "1.5 s", "2m3s".
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

// Slug makes an id of a title: lower case, words joined by dashes.
func Slug(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
