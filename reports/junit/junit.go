// Package junit writes a result as JUnit XML, for CI systems.
package junit

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// Write writes r as JUnit XML: a suite per feature, a testcase per scenario.
//
// A CI system knows four outcomes, and is red at two of them. So that it is red exactly when the verdict is not
// conformant:
//   - a failed MUST is a failure;
//   - a blocked or inconclusive MUST is an error: the test could not be made;
//   - a skipped scenario is skipped;
//   - a SHOULD or MAY that is failed, blocked or inconclusive is skipped with a message that starts with "warning:",
//     because there is no outcome between passed and failed (with strict, a SHOULD is treated as a MUST);
//   - what the baseline covers is skipped with a message that starts with "known failure:", and an entry of the
//     baseline that is stale, expired or unmatched is a failure of the suite "baseline".
//
// Where none of these is red and the exit code is not 0 (nothing was judged, or a part where the whole is required) there
// is one testcase "verdict" with an error. Write fails only where w does.
func Write(w io.Writer, r *reports.Result) error {
	text, err := xml.MarshalIndent(documentOf(r), "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	if err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	return nil
}

// The library's structs know no properties of a testcase and no file: these do, and use the library's for the rest.
type (
	counts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	testsuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		counts
		Time   string `xml:"time,attr"`
		Suites []*testsuite
	}
	testsuite struct {
		XMLName xml.Name `xml:"testsuite"`
		Name    string   `xml:"name,attr"`
		counts
		Time       string           `xml:"time,attr"`
		Timestamp  string           `xml:"timestamp,attr"`
		File       string           `xml:"file,attr,omitempty"`
		Properties []junit.Property `xml:"properties>property,omitempty"`
		Testcases  []testcase
		ms         int64
	}
	testcase struct {
		XMLName    xml.Name         `xml:"testcase"`
		Name       string           `xml:"name,attr"`
		Classname  string           `xml:"classname,attr"`
		Time       string           `xml:"time,attr"`
		File       string           `xml:"file,attr,omitempty"`
		Properties []junit.Property `xml:"properties>property,omitempty"`
		Skipped    *junit.Result    `xml:"skipped,omitempty"`
		Error      *junit.Result    `xml:"error,omitempty"`
		Failure    *junit.Result    `xml:"failure,omitempty"`
	}
)

func documentOf(r *reports.Result) *testsuites {
	doc := &testsuites{Name: "agentconform", Time: seconds(r.Run.DurationMS)}
	suites, used := map[string]*testsuite{}, map[string]int{}
	o := overview.Of(r)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		suite := suites[q.Feature]
		for j := range q.Scenarios {
			if suite == nil {
				suite = doc.suite(r, cmp.Or(q.Feature, "requirements"), q.Scenarios[j].URI)
				suites[q.Feature] = suite
			}
			suite.add(testcaseOf(r, o, q, &q.Scenarios[j], used), q.Scenarios[j].DurationMS)
		}
	}
	doc.baseline(r)
	doc.total()
	if doc.Failures+doc.Errors == 0 && overview.DisplayVerdictOf(r).Exit != 0 {
		suite := doc.suite(r, "run", "")
		suite.add(testcase{Name: "verdict", Classname: "agentconform.run", Error: outcome(overview.FirstLine(r), string(r.Verdict), "")}, 0)
		doc.total()
	}
	return doc
}

func (d *testsuites) suite(r *reports.Result, name, file string) *testsuite {
	s := &testsuite{
		Name: safe.XML(name), File: safe.XML(file), Timestamp: r.Run.StartedAt.UTC().Format("2006-01-02T15:04:05"),
	}
	for _, f := range overview.Facts(r) {
		s.Properties = append(s.Properties, properties(f.Name, f.Value)...)
	}
	d.Suites = append(d.Suites, s)
	return s
}

// baseline adds a failure for each thing that is wrong with the baseline itself.
func (d *testsuites) baseline(r *reports.Result) {
	if r.Baseline == nil {
		return
	}
	sentences := append(append(append([]string{}, r.Baseline.Stale...), r.Baseline.Expired...), r.Baseline.Unmatched...)
	if len(sentences) == 0 {
		return
	}
	suite := d.suite(r, "baseline", r.Baseline.File)
	for i, s := range sentences {
		suite.add(testcase{Name: fmt.Sprintf("entry %d", i+1), Classname: "agentconform.baseline", Failure: outcome(s, "baseline", "")}, 0)
	}
}

// total sums up the suites.
func (d *testsuites) total() {
	d.Tests, d.Failures, d.Errors, d.Skipped = 0, 0, 0, 0
	for _, s := range d.Suites {
		d.Tests += s.Tests
		d.Failures += s.Failures
		d.Errors += s.Errors
		d.Skipped += s.Skipped
	}
}

func (s *testsuite) add(t testcase, ms int64) {
	t.Time = seconds(ms)
	s.ms += ms
	s.Time = seconds(s.ms)
	s.Testcases = append(s.Testcases, t)
	s.Tests++
	switch {
	case t.Failure != nil:
		s.Failures++
	case t.Error != nil:
		s.Errors++
	case t.Skipped != nil:
		s.Skipped++
	}
}

func testcaseOf(r *reports.Result, o overview.Overview, q *reports.Requirement, s *reports.Scenario, used map[string]int) testcase {
	t := testcase{
		Name: safe.XML(s.Name), Classname: safe.XML(q.Profile + "." + q.ID), File: safe.XML(s.URI),
		Properties: properties("requirement", q.ID, "level", string(q.Level), "section", q.Section, "title", q.Title, "verdict", string(s.Verdict)),
	}
	// CI systems follow a testcase through the builds by class and name, which therefore must differ.
	key := t.Classname + "\x00" + t.Name
	if used[key]++; used[key] > 1 {
		t.Name = fmt.Sprintf("%s (%d)", t.Name, used[key])
	}
	what := safe.Cut(cmp.Or(s.Reason, q.Reason, string(s.Verdict)), 500)
	open := s.Verdict.Problem()
	switch {
	case s.Verdict == reports.Skipped:
		t.Skipped = outcome(what, "", "")
	case open && q.Known != nil:
		t.Skipped = outcome("known failure: "+overview.Known(q.Known)+": "+what, "", "")
	case open && !q.Decides(r.Run.Strict):
		t.Skipped = outcome(fmt.Sprintf("warning: %s %s: %s", q.Level, s.Verdict, what), "", overview.Story(o, q, s))
	case s.Verdict == reports.Failed:
		t.Failure = outcome(what, string(q.Level), overview.Story(o, q, s))
	case open:
		t.Error = outcome(fmt.Sprintf("%s: %s", s.Verdict, what), string(s.Verdict), overview.Story(o, q, s))
	}
	return t
}

// outcome leaves the data out where there is none: some readers show an empty box.
func outcome(message, kind, data string) *junit.Result {
	return &junit.Result{Message: safe.XML(safe.Line(safe.Cut(message, 1000))), Type: kind, Data: safe.XML(data)}
}

// properties makes a list of names and values in turn.
func properties(pairs ...string) []junit.Property {
	var all []junit.Property
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			all = append(all, junit.Property{Name: pairs[i], Value: safe.XML(safe.Cut(pairs[i+1], 1000))})
		}
	}
	return all
}

func seconds(ms int64) string {
	return fmt.Sprintf("%.3f", (time.Duration(ms) * time.Millisecond).Seconds())
}
