package junit_test

import (
	"bytes"
	"encoding/xml"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/recorded"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/junit"
)

// junitGrammar is what the readers of JUnit XML have in common: which elements stand where, and which attributes
// they have. An exclamation mark says that the attribute must be there.
var junitGrammar = map[string]struct{ children, attributes []string }{
	"testsuites": {[]string{"testsuite"}, []string{"name", "tests!", "failures!", "errors!", "skipped", "time!"}},
	"testsuite":  {[]string{"properties", "testcase"}, []string{"name!", "tests!", "failures!", "errors!", "skipped!", "time!", "timestamp!", "file"}},
	"properties": {[]string{"property"}, nil},
	"property":   {nil, []string{"name!", "value!"}},
	"testcase":   {[]string{"properties", "skipped", "error", "failure"}, []string{"name!", "classname!", "time!", "file"}},
	"skipped":    {nil, []string{"message!", "type"}},
	"error":      {nil, []string{"message!", "type"}},
	"failure":    {nil, []string{"message!", "type"}},
}

// element is any XML element.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
	Text     string     `xml:",chardata"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func checkJUnit(t *testing.T, doc []byte) {
	t.Helper()
	reporttest.XML(t, doc)
	var root element
	require.NoError(t, xml.Unmarshal(doc, &root))
	require.Equal(t, "testsuites", root.XMLName.Local)
	checkElement(t, root)
	total := map[string]int{}
	seen := map[string]bool{}
	for _, suite := range root.Children {
		counts := map[string]int{"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
		for _, tc := range suite.Children {
			if tc.XMLName.Local != "testcase" {
				continue
			}
			key := tc.attr("classname") + " " + tc.attr("name")
			assert.False(t, seen[key], "testcase twice: %.200s", key)
			seen[key] = true
			counts["tests"]++
			outcomes := 0
			for _, c := range tc.Children {
				if plural, ok := map[string]string{"failure": "failures", "error": "errors", "skipped": "skipped"}[c.XMLName.Local]; ok {
					counts[plural]++
					outcomes++
				}
			}
			assert.LessOrEqual(t, outcomes, 1)
		}
		for name, n := range counts {
			assert.Equal(t, strconv.Itoa(n), suite.attr(name), "%s of suite %s", name, suite.attr("name"))
			total[name] += n
		}
	}
	for name, n := range total {
		assert.Equal(t, strconv.Itoa(n), root.attr(name), name)
	}
}

func checkElement(t *testing.T, e element) {
	t.Helper()
	grammar, ok := junitGrammar[e.XMLName.Local]
	require.True(t, ok, "unknown element %s", e.XMLName.Local)
	for _, a := range e.Attrs {
		assert.True(t, slices.Contains(grammar.attributes, a.Name.Local) || slices.Contains(grammar.attributes, a.Name.Local+"!"), "%s has attribute %s", e.XMLName.Local, a.Name.Local)
		switch a.Name.Local {
		case "time":
			assert.Regexp(t, regexp.MustCompile(`^\d+\.\d{3}$`), a.Value)
		case "timestamp":
			assert.Regexp(t, regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`), a.Value)
		}
	}
	for _, name := range grammar.attributes {
		if name[len(name)-1] == '!' {
			assert.True(t, slices.ContainsFunc(e.Attrs, func(a xml.Attr) bool { return a.Name.Local+"!" == name }), "%s lacks %s", e.XMLName.Local, name)
		}
	}
	for _, c := range e.Children {
		assert.Contains(t, grammar.children, c.XMLName.Local, "in %s", e.XMLName.Local)
		checkElement(t, c)
	}
}

func TestJUnit(t *testing.T) {
	reporttest.Exporter{File: "junit.xml", Write: junit.Write, Check: checkJUnit, Limit: 3 << 20}.Test(t)
}

func TestJUnitIsRedExactlyWhenTheVerdictIsNotConformant(t *testing.T) {
	// A testcase of a binding requirement is red where it did not pass.
	red := func(r *reports.Result, verdicts ...reports.Verdict) (n int) {
		for _, q := range r.Requirements {
			for _, s := range q.Scenarios {
				if q.Level == reports.Must && slices.Contains(verdicts, s.Verdict) {
					n++
				}
			}
		}
		return n
	}
	faulty, unreachable := recorded.Faulty(), recorded.Unreachable()
	known := recorded.Faulty()
	for i := range known.Requirements {
		if known.Requirements[i].Verdict != reports.Passed {
			known.Requirements[i].Known = &reports.Known{Reason: "we know"}
		}
	}
	known.Baseline = &reports.Baseline{}
	warned := recorded.Conformant()
	for i := range warned.Requirements {
		if q := &warned.Requirements[i]; q.Level == reports.Should {
			q.Verdict, q.Scenarios[0].Verdict, q.Scenarios[0].Reason = reports.Failed, reports.Failed, "not so nice"
		}
	}
	strict := recorded.Conformant()
	*strict = *warned
	strict.Run.Strict, strict.Verdict = true, reports.NonConformant
	stale := recorded.Conformant()
	stale.Baseline = &reports.Baseline{Stale: []string{"CP-LIST-1 passes"}}
	tests := []struct {
		name             string
		r                *reports.Result
		failures, errors int
	}{
		{"conformant", recorded.Conformant(), 0, 0},
		{"faulty", faulty, red(faulty, reports.Failed), red(faulty, reports.Blocked, reports.Inconclusive)},
		{"unreachable", unreachable, 0, red(unreachable, reports.Blocked)},
		{"nothing judged", &reports.Result{Verdict: reports.Incomplete}, 0, 1},
		{"known failures", known, 0, 0},
		{"warnings", warned, 0, 0},
		{"warnings, strict", strict, 2, 0},
		{"stale baseline", stale, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, junit.Write(&b, tt.r))
			checkJUnit(t, b.Bytes())
			var root element
			require.NoError(t, xml.Unmarshal(b.Bytes(), &root))
			assert.Equal(t, strconv.Itoa(tt.failures), root.attr("failures"))
			assert.Equal(t, strconv.Itoa(tt.errors), root.attr("errors"))
		})
	}
}
