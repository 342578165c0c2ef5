// Package attest writes a result as an in-toto statement with the predicate test-result. Supply chain tools can sign and
// verify it. Start with [Of].
package attest

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// PredicateType identifies the predicate.
const PredicateType = "https://in-toto.io/attestation/test-result/v0.1"

// Resource is an artifact that the statement is about, or that the test run used.
type Resource struct {
	Name        string            `json:"name"`
	Digest      map[string]string `json:"digest"` // by algorithm, in hexadecimal digits
	Annotations map[string]string `json:"annotations,omitempty"`
}

// digits are the lengths of the digests that are accepted.
var digits = map[string]int{"sha256": 64, "sha512": 128, "gitCommit": 40}

var hexadecimal = regexp.MustCompile(`^[0-9a-f]+$`)

// ParseSubject reads NAME@ALGORITHM:DIGEST, as in the name of an image.
func ParseSubject(text string) (Resource, error) {
	at := strings.LastIndex(text, "@")
	algorithm, digest, _ := strings.Cut(text[at+1:], ":")
	if at < 1 || len(digest) != digits[algorithm] || !hexadecimal.MatchString(digest) {
		return Resource{}, fmt.Errorf("%q is not NAME@ALGORITHM:DIGEST, such as the name of an image; "+
			"give a complete digest with sha256, sha512 or gitCommit", text)
	}
	return Resource{Name: text[:at], Digest: map[string]string{algorithm: digest}}, nil
}

// Predicate is the predicate test-result.
type Predicate struct {
	Result        string     `json:"result"` // PASSED, WARNED or FAILED
	Configuration []Resource `json:"configuration"`
	URL           string     `json:"url,omitempty"` // URL of the test run
	PassedTests   []string   `json:"passedTests"`   // IDs of requirements
	WarnedTests   []string   `json:"warnedTests"`
	FailedTests   []string   `json:"failedTests"`
}

// Of returns the predicate of a result. It is PASSED or WARNED only if the verdict is conformant. Known failures of the
// baseline do not change that. WARNED means that a requirement that does not decide the verdict has failed. The lists
// have only requirements that passed or failed. file describes the result file. url is the address of the test run and
// may be empty.
func Of(r *reports.Result, file Resource, url string) Predicate {
	p := Predicate{Result: "FAILED", URL: url, PassedTests: []string{}, WarnedTests: []string{}, FailedTests: []string{}}
	for q := range reports.Each(r.Requirements) {
		switch {
		case overview.Word(q.Verdict) == overview.Passed:
			p.PassedTests = append(p.PassedTests, q.ID)
		case overview.Word(q.Verdict) == overview.Failed && q.Decides():
			p.FailedTests = append(p.FailedTests, q.ID)
		case overview.Word(q.Verdict) == overview.Failed:
			p.WarnedTests = append(p.WarnedTests, q.ID)
		}
	}
	isPassed := r.Verdict == reports.Conformant && len(p.FailedTests) == 0 // an edited result may contradict itself
	switch {
	case isPassed && len(p.WarnedTests) > 0:
		p.Result = "WARNED"
	case isPassed:
		p.Result = "PASSED"
	}
	file.Annotations = map[string]string{"verdict": string(r.Verdict), "scope": string(r.Scope)}
	p.Configuration = []Resource{file}
	algorithm, digest, _ := strings.Cut(r.Suite.Digest, ":")
	if digest != "" {
		suite := map[string]string{"version": r.Suite.Version, "interface": r.Suite.Interface, "set": cmp.Or(r.Suite.Set, "all")}
		p.Configuration = append(p.Configuration, Resource{Name: "agentconform requirements",
			Digest: map[string]string{algorithm: digest}, Annotations: suite})
	}
	return p
}

// WriteStatement writes the statement that the predicate is true for the subjects. Errors are those of w.
func WriteStatement(w io.Writer, p Predicate, subjects []Resource) error {
	return reports.WriteEncoded(w, struct {
		Type          string     `json:"_type"`
		Subject       []Resource `json:"subject"`
		PredicateType string     `json:"predicateType"`
		Predicate     Predicate  `json:"predicate"`
	}{"https://in-toto.io/Statement/v1", subjects, PredicateType, p}, "  ")
}
