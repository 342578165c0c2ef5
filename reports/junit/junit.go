// Package junit writes a result as JUnit XML for CI systems.
package junit

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// Write writes r as JUnit XML with a suite for each feature and a testcase for each scenario. Errors are those of w.
//
// The document has failures or errors if and only if the exit code is not 0:
//   - a failed MUST is a failure;
//   - a MUST for which the test run could not tell is an error;
//   - a scenario that was not tested is skipped;
//   - a SHOULD or MAY that did not pass is skipped, with a message that starts with "warning:" (with --strict or --fail-on
//     it may count as a MUST);
//   - a known failure is skipped, with a message that starts with "known failure:";
//   - with --repeat, the further failures of a scenario that fails the test run are rerunFailure elements, as Maven Surefire
//     writes them. If its failures do not fail the test run, a scenario that also passed has flakyFailure elements. CI systems
//     count a testcase with flakyFailure as passed, so a failed MUST must not have them;
//   - an entry of the baseline that is stale, expired or unmatched is a failure of the suite "baseline";
//   - if the exit code has another reason, for example that no requirement was tested, there is a testcase "verdict" with an
//     error.
func Write(w io.Writer, r *reports.Result) error {
	doc, err := xml.MarshalIndent(documentOf(r), "", "\t")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(doc)+"\n")
	return err
}

// document is a document of the library whose testcases have the elements of Maven Surefire.
type document struct {
	junit.Testsuites
	XMLName xml.Name    `xml:"testsuites"`
	Suites  []testsuite `xml:"testsuite,omitempty"`
}

type testsuite struct {
	junit.Testsuite
	Testcases []testcase `xml:"testcase,omitempty"`
}

type testcase struct {
	junit.Testcase
	Reruns []rerun `xml:"rerunFailure,omitempty"`
	Flaky  []rerun `xml:"flakyFailure,omitempty"`
}

// rerun is a failure in one repetition.
type rerun struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Stack   string `xml:"stackTrace"`
}

func documentOf(r *reports.Result) *document {
	o := overview.Of(r)
	var suites []*testsuite
	used := map[string]int{}       // by class and name of testcases
	duration := map[string]int64{} // by suite, in milliseconds
	add := func(name, file string, t testcase, ms int64) {
		name = safe.Visible(name)
		at := slices.IndexFunc(suites, func(known *testsuite) bool { return known.Name == name })
		if at < 0 {
			at, suites = len(suites), append(suites, &testsuite{Testsuite: *suiteOf(o, name, file)})
		}
		// CI systems identify a testcase in several builds by its class and name, so these must be unique.
		key := t.Classname + "\x00" + t.Name
		used[key]++
		if used[key] > 1 {
			t.Name = fmt.Sprintf("%s (%d)", t.Name, used[key])
		}
		duration[name] += ms
		t.Time, suites[at].Time = seconds(ms), seconds(duration[name])
		suites[at].AddTestcase(t.Testcase) // counts it
		suites[at].Testcases = append(suites[at].Testcases, t)
	}
	for q := range reports.Each(r.Requirements) {
		for s := range reports.Each(q.Scenarios) {
			add(cmp.Or(q.Feature, "requirements"), s.URI, testcaseOf(o, q, s), s.DurationMS)
		}
	}
	if b := r.Baseline; b != nil {
		for _, s := range b.Outdated() {
			add("baseline", b.File, testcase{Testcase: junit.Testcase{Name: "entry", Classname: "agentconform.baseline",
				Failure: outcome(s, "baseline", "")}}, 0)
		}
	}
	hasFailure := func(s *testsuite) bool { return s.Failures+s.Errors > 0 }
	if !slices.ContainsFunc(suites, hasFailure) && o.Display().Exit != 0 {
		add("run", "", testcase{Testcase: junit.Testcase{Name: "verdict", Classname: "agentconform.run",
			Error: outcome(o.FirstLine(), string(r.Verdict), "")}}, 0)
	}
	doc := &document{Testsuites: junit.Testsuites{Name: "agentconform", Time: seconds(r.Run.DurationMS)}}
	for i, s := range suites {
		s.ID = i
		doc.AddSuite(s.Testsuite) // counts it
		doc.Suites = append(doc.Suites, *s)
	}
	return doc
}

func suiteOf(o overview.Overview, name, file string) *junit.Testsuite {
	s := &junit.Testsuite{Name: name, File: safe.Visible(file),
		Timestamp: o.Result.Run.StartedAt.UTC().Format("2006-01-02T15:04:05")}
	for _, f := range o.Facts() {
		s.AddProperty(f[0], safe.Visible(safe.Cut(f[1], 1000)))
	}
	return s
}

func testcaseOf(o overview.Overview, q *reports.Requirement, s *reports.Scenario) testcase {
	t := testcase{Testcase: junit.Testcase{Name: safe.Visible(s.Name), Classname: safe.Visible(q.Profile + "." + q.ID)}}
	class, message := o.OutcomeOf(q, s)
	if rate := s.Repetitions.String(); rate != "" {
		message = rate + ": " + message
	}
	isAllowed := class == overview.Known || class == overview.Warning
	switch {
	case isAllowed && s.Repetitions[reports.Passed] > 0 && len(s.Failures) > 0:
		t.Flaky = reruns(s.Failures, q)
		return t
	case class == overview.Failed && len(s.Failures) > 1:
		t.Reruns = reruns(s.Failures[1:], q)
	}
	switch class {
	case overview.Passed:
	case overview.NotTested, overview.Known:
		t.Skipped = outcome(message, "", "")
	case overview.Warning:
		t.Skipped = outcome(message, "", console.Story(o, q, s, ""))
	case overview.Failed:
		t.Failure = outcome(message, string(q.Level), console.Story(o, q, s, ""))
	default:
		t.Error = outcome(message, string(s.Verdict), console.Story(o, q, s, ""))
	}
	return t
}

// reruns returns the failures of a scenario of q in several repetitions.
func reruns(failures []reports.Failure, q *reports.Requirement) (all []rerun) {
	for _, f := range failures {
		text := safe.Visible(safe.Line(safe.Cut(fmt.Sprintf("repetition %d: %s", f.Repetition, f.Reason), 1000)))
		all = append(all, rerun{text, string(q.Level), text})
	}
	return all
}

func outcome(message, kind, data string) *junit.Result {
	return &junit.Result{Message: safe.Visible(safe.Line(safe.Cut(message, 1000))), Type: kind, Data: safe.Visible(data)}
}

func seconds(ms int64) string { return fmt.Sprintf("%d.%03d", ms/1000, ms%1000) }
