package export_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/overview"
)

// requirementsOf parses requirements: the ID of each, and its differences from a MUST that passed.
func requirementsOf(text string) (all []reports.Requirement) {
	for each := range strings.SplitSeq(text, ", ") {
		words := strings.Fields(each)
		q := reports.Requirement{ID: words[0], Level: reports.Must, Verdict: reports.Passed, Title: "The rule " + words[0],
			Feature: "F", Profile: "control-plane", Section: "4"}
		for _, word := range words[1:] {
			kind, of, is := strings.Cut(word, ":")
			switch {
			case word == "SHOULD":
				q.Level = reports.Should
			case slices.Contains(reports.Verdicts, reports.Verdict(word)):
				q.Verdict, q.Reason = reports.Verdict(word), "expected 404, got 200"
			case is && q.Verdict.Problem():
				q.BlockedBy = []reports.Blocker{{Kind: reports.BlockerKind(kind), Name: of}}
			case is:
				q.Verdict, q.Skip = reports.Skipped, &reports.Skip{Kind: reports.SkipKind(kind), Key: of}
			case word == "binding":
				q.Binding = true
			case word == "claimed":
				q.Claimed = "tags"
			default:
				q.Subject = word
			}
		}
		all = append(all, q)
	}
	return all
}

// kindsOfResults are results on which all formats must agree.
func kindsOfResults() map[string]kindOfResult {
	claims := func(r *reports.Result) { r.Target.Supports = []string{"control-plane-core", "tags"} }
	plane := func(r *reports.Result) { r.Target.Supports = []string{"control-plane"} }
	agent := func(r *reports.Result) {
		r.Target.AgentServer, r.Target.Supports = "http://a", []string{"agent-server"}
		r.Requirements[0].Profile = "agent-server"
	}
	failOn := func(r *reports.Result) { r.Run.FailOn = "@security" }
	repeated := func(r *reports.Result) {
		r.Run.Repeat, r.Run.Repeated = 10, 10
		for q := range reports.Each(r.Requirements) {
			q.Repetitions = reports.Repetitions{reports.Passed: 9, q.Verdict: 1}
			for s := range reports.Each(q.Scenarios) {
				s.Repetitions = q.Repetitions
				if s.Verdict == reports.Failed {
					s.Failures = []reports.Failure{{Repetition: 4, Reason: q.Reason}}
				}
			}
		}
	}
	known := &baseline.Baseline{File: "known.yaml",
		Known: []baseline.Entry{{Requirement: "A-2", Reason: "old", Owner: "o"}}}
	both := &baseline.Baseline{File: "known.yaml",
		Known: append(known.Known, baseline.Entry{Requirement: "A-1"}, baseline.Entry{Requirement: "A-3"})}
	return map[string]kindOfResult{
		"conformant": {"A-1, A-2 SHOULD, A-9 not-applicable:images", nil, nil, "2 passed, 1 not tested", 0},
		"insecure": {"A-1", func(r *reports.Result) { r.Target.Connection = &reports.Connection{Insecure: true} }, nil,
			"1 passed", 0},
		"warning only": {"A-1, A-2 SHOULD failed", nil, nil, "1 passed, 1 failed", 0},
		"failed":       {"A-1, A-2 failed, A-3 SHOULD failed, A-4 blocked", nil, nil, "1 passed, 2 failed, 1 could not tell", 1},
		"blocked":      {"A-1, A-2 blocked requirement:A-7", nil, nil, "1 passed, 1 could not tell", 3},
		"inconclusive": {"A-1, A-2 inconclusive", nil, nil, "1 passed, 1 could not tell", 3},
		"unreachable": {"A-1 blocked target:http://h, A-2 SHOULD blocked target:http://h",
			func(r *reports.Result) { r.Headline = "http://h does not answer" }, nil, "2 could not tell", 3},
		"stopped": {"A-1, A-2 inconclusive run:ended", func(r *reports.Result) { r.Run.Stopped = "--timeout 1s" }, nil,
			"1 passed, 1 could not tell", 3},
		"stopped, failed": {"A-1 failed, A-2 inconclusive run:ended", func(r *reports.Result) { r.Run.Stopped = "Ctrl-C" },
			nil, "1 failed, 1 could not tell", 1},
		"partial": {"A-1, A-2 not-configured:create.body, A-9 not-applicable:images", nil, nil,
			"1 passed, 2 not tested", 0},
		"whole required": {"A-1, A-2 not-configured:create.body", func(r *reports.Result) { r.Run.Whole = true }, nil,
			"1 passed, 1 not tested", 3},
		"not claimed": {"A-1, A-2 not-claimed:create.body, A-9 not-applicable:images", claims, nil,
			"1 passed, 2 not tested", 0},
		"not claimed, whole required": {"A-1, A-2 not-claimed:create.body",
			func(r *reports.Result) { claims(r); r.Run.Whole = true }, nil, "1 passed, 1 not tested", 3},
		"not claimed, failed":     {"A-1 failed, A-2 not-claimed:create.body", claims, nil, "1 failed, 1 not tested", 1},
		"claimed, not configured": {"A-1, A-2 not-configured:create.body claimed", claims, nil, "1 passed, 1 not tested", 3},
		"claimed, blocked":        {"A-1, A-2 SHOULD blocked requirement:A-7 claimed", claims, nil, "1 passed, 1 could not tell", 3},
		"claimed, inconclusive":   {"A-1, A-2 SHOULD inconclusive claimed", claims, nil, "1 passed, 1 could not tell", 3},
		"named, not applicable":   {"A-1, A-9 not-applicable:images claimed", claims, nil, "1 passed, 1 not tested", 3},
		"claimed, not applicable": {"A-1, A-9 not-applicable:images claimed", plane, nil, "1 passed, 1 not tested", 0},
		"agent only": {"A-1, A-2 other-half:target", func(r *reports.Result) { agent(r); r.Target.ControlPlane = "" },
			nil, "1 passed", 0},
		"agent only, claimed": {"A-1, A-2 not-claimed:control-plane, E-1 not-claimed:end-to-end", agent, nil,
			"1 passed, 2 not tested", 0},
		"repeated":           {"A-1, A-2 failed, A-3 SHOULD failed", repeated, nil, "1 passed, 2 failed", 1},
		"repeated and known": {"A-1, A-2 failed", repeated, known, "1 passed, 1 failed", 0},
		"baseline":           {"A-1, A-2 failed", nil, known, "1 passed, 1 failed", 0},
		"stale baseline":     {"A-1, A-2", nil, known, "2 passed", 1},
		"known and blocked":  {"A-1, A-2 failed, A-3 blocked", nil, known, "1 passed, 1 failed, 1 could not tell", 3},
		"known only":         {"A-2 failed, A-3 not-selected:--only", nil, known, "1 failed, 1 not tested", 3},
		"known and stopped": {"A-1, A-2 failed", func(r *reports.Result) { r.Run.Stopped = "Ctrl-C" }, known,
			"1 passed, 1 failed", 3},
		"known, and stale": {"A-1 failed, A-2, A-3 failed", nil, both, "1 passed, 2 failed", 1},
		"new failure":      {"A-1, A-2 failed, A-3 failed", nil, known, "1 passed, 2 failed", 1},
		"fail on":          {"A-1, A-2 SHOULD failed binding, A-3 SHOULD failed", failOn, nil, "1 passed, 2 failed", 1},
		"fail on, blocked": {"A-1, A-2 SHOULD blocked binding", failOn, nil, "1 passed, 1 could not tell", 3},
		"the most severe failure first": {"A-1 failed form, B-1 failed, D-1 failed security, C-1 failed rollback", nil, nil,
			"4 failed", 1},
		"a failure in a part": {"A-1, A-2 failed, A-3 over-budget:create.body", nil, nil, "1 passed, 1 failed, 1 not tested",
			1},
		"agent only, whole required": {"A-1, A-2 other-half:target",
			func(r *reports.Result) { agent(r); r.Target.ControlPlane, r.Run.Whole = "", true }, nil, "1 passed, 1 not tested",
			3},
		"agent only, in part": {"A-1, A-2 not-claimed:control-plane, A-3 not-claimed:rollback", agent, nil,
			"1 passed, 2 not tested", 0},
		"both halves, not end to end": {"A-1, A-2, E-1 not-claimed:end-to-end", agent, nil, "2 passed, 1 not tested", 0},
		"nothing but refusals": {"A-1, A-2 not-configured:create.body",
			func(r *reports.Result) {
				r.Unseen, r.Headline = []string{"control-plane"}, "no successful answer was seen"
			}, nil,
			"1 passed, 1 not tested", 3},
		"only a SHOULD": {"A-1 SHOULD", nil, nil, "1 passed", 3},
		"one cause of two": {"A-1, A-2 blocked target:http://h, A-3 blocked target:http://h, A-4 blocked", nil, nil,
			"1 passed, 3 could not tell", 3},
	}
}

type kindOfResult struct {
	requirements string // text for requirementsOf
	change       func(*reports.Result)
	known        *baseline.Baseline
	counts       string // counts in all formats
	exit         int
}

func (k kindOfResult) result() *reports.Result {
	r := &reports.Result{Schema: reports.Schema, Target: reports.Target{ControlPlane: "http://h"},
		Run:          reports.Run{Arguments: []string{"run", "--reports", "all"}},
		Requirements: requirementsOf(k.requirements), Suite: reports.Suite{Version: "1.2.3", Commit: "0123456789abcdef",
			Interface: "0.1.0", Digest: "sha256:" + strings.Repeat("ab", 32)}}
	r.Suite.Requirements = len(r.Requirements)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		step := reports.Step{Keyword: "When", Text: "something is done", Line: 3}
		if q.Verdict == reports.Passed || q.Verdict == reports.Failed {
			step.Verdict = reports.Passed // as if the failed step had not been marked
		}
		q.Scenarios = []reports.Scenario{{Name: "Scenario " + q.ID, URI: "f.feature", Line: i + 1, Verdict: q.Verdict,
			Reason: q.Reason, Skip: q.Skip, BlockedBy: q.BlockedBy, Exchanges: []int{}, Steps: []reports.Step{step}}}
	}
	if k.change != nil {
		k.change(r)
	}
	reports.SetScope(r, nil)
	reports.Tally(r)
	reports.SetProblems(r)
	r.Verdict = reports.ConcludeRun(r)
	if k.known != nil {
		baseline.Apply(r, k.known, time.Time{})
	}
	return r
}

// TestHeadlines compares the first lines of the results with a golden file.
func TestHeadlines(t *testing.T) {
	kinds := kindsOfResults()
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(&b, "%s\n    %s\n", name, overview.Of(kinds[name].result()).FirstLine())
	}
	reporttest.Golden(t, "headlines.txt", b.Bytes())
}

// TestFormatsAgree checks that all formats show the same verdict, counts, scope, claims and exit code.
func TestFormatsAgree(t *testing.T) {
	for name, k := range kindsOfResults() {
		t.Run(name, func(t *testing.T) {
			r, dir := k.result(), t.TempDir()
			require.NoError(t, export.Write(dir, r))
			o := overview.Of(r)
			display := o.Display()
			assert.Equal(t, k.exit, display.Exit)
			scope := r.Scope // the scope of an agent server depends on the reason why the other half is not tested
			if display.Scope != " (agent server)" {
				assert.Equal(t, display.Scope == " (partial run)", scope == reports.ScopePart)
			}

			var terminal bytes.Buffer
			require.NoError(t, console.Write(&terminal, r, console.Options{}))
			formats := map[string]string{"console": terminal.String()} // without escapes
			for _, file := range []string{"summary.md", "index.html", "badge.svg", "junit.xml", "cucumber.json", "result.har"} {
				content, err := os.ReadFile(filepath.Join(dir, file))
				require.NoError(t, err)
				formats[file] = strings.NewReplacer(`\`, "", "`", "", "&#39;", "'", "&#xA;", "\n").Replace(string(content))
			}
			show := func(text string, files ...string) {
				for _, file := range files {
					assert.True(t, text == "" || strings.Contains(formats[file], text), "%s does not show %s", file, text)
				}
			}
			all := slices.Collect(maps.Keys(formats))
			show(display.String(), "console", "summary.md", "index.html", "junit.xml", "cucumber.json", "result.har")
			show(k.counts, "console", "summary.md", "junit.xml", "cucumber.json", "result.har")
			show("0123456789ab", all...)
			show("sha256:abababab", all...)
			show("agentconform: "+string(display.Word)+display.Scope+" ", "badge.svg")
			show(o.Unclaimed(), "console", "summary.md", "index.html", "badge.svg")
			show(o.BrokenClaims(), "console", "summary.md", "index.html", "cucumber.json", "result.har")
			for _, word := range r.Target.Supports {
				show(word, "console", "summary.md", "index.html", "junit.xml", "cucumber.json", "result.har")
			}
			if scope == reports.ScopePart {
				show(r.NotJudged[0].Key, "index.html", "junit.xml", "cucumber.json", "result.har")
			}
			show(o.FirstLine(), "console")
			show("<title>"+display.String(), "index.html")
			show(`<header class="top `+string(display.Tone)+`">`, "index.html")
			for _, part := range strings.Split(k.counts, ", ") {
				n, what, _ := strings.Cut(part, " ")
				assert.Regexp(t, fmt.Sprintf(`<b>%s</b> %s\b`, n, what), formats["index.html"], "the tile")
			}
			sign := map[reports.Conclusion]string{reports.Conformant: "✅", reports.NonConformant: "❌",
				overview.Allowed: "⚠️", reports.Incomplete: "⚠️"}[display.Tone]
			assert.True(t, strings.HasPrefix(formats["summary.md"], "## "+sign+" "+string(r.Verdict)))

			show(`name="Scope" value="`+string(scope)+`"`, "junit.xml")
			var junit struct {
				Failures int `xml:"failures,attr"`
				Errors   int `xml:"errors,attr"`
			}
			require.NoError(t, xml.Unmarshal([]byte(formats["junit.xml"]), &junit))
			assert.Equal(t, k.exit != 0, junit.Failures+junit.Errors > 0, "there are failures or errors if and only if the exit code is not 0")

			show("Scope: "+string(scope), "cucumber.json", "result.har")
			content, err := os.ReadFile(filepath.Join(dir, "cucumber.json"))
			require.NoError(t, err)
			statuses := cucumberStatuses(t, content)
			assert.Equal(t, k.exit == 0, statuses["the verdict passed"] == 1)
			assert.Equal(t, len(o.Classes[overview.Failed]), statuses["failed"])
			assert.Equal(t, len(o.Classes[overview.Passed]), statuses["passed"])
		})
	}
}

// TestNumbersAgree checks that all formats show the numbers of result.json: the requirements by word, the problems, and
// the MUSTs.
func TestNumbersAgree(t *testing.T) {
	problem := map[string]*regexp.Regexp{ // a pattern that each format shows once for each problem
		"console":    regexp.MustCompile(`(?m)^\d+\. `),
		"summary.md": regexp.MustCompile(`(?m)^\| \d+ \|`),
		"index.html": regexp.MustCompile(`Problem \d+ of \d+`),
	}
	for name, k := range kindsOfResults() {
		t.Run(name, func(t *testing.T) {
			r, dir := k.result(), t.TempDir()
			require.NoError(t, export.Write(dir, r))
			var terminal bytes.Buffer
			require.NoError(t, console.Write(&terminal, r, console.Options{}))
			formats := map[string]string{"console": terminal.String()}
			for _, file := range []string{"summary.md", "index.html", "junit.xml", "result.json"} {
				content, err := os.ReadFile(filepath.Join(dir, file))
				require.NoError(t, err)
				formats[file] = strings.NewReplacer(`\`, "", "`", "", "&#39;", "'").Replace(string(content))
			}
			var document reports.Result
			require.NoError(t, json.Unmarshal([]byte(formats["result.json"]), &document))
			delete(formats, "result.json")

			assert.Equal(t, k.counts, overview.Of(&document).Counts().String())
			counts, failed, tested := map[overview.Class]int{}, 0, 0
			for _, q := range document.Requirements {
				counts[overview.Word(q.Verdict)]++
				if q.Decides() && q.Verdict != reports.Skipped {
					tested++
				}
				if q.Decides() && q.Verdict == reports.Failed {
					failed++
				}
			}
			for _, part := range strings.Split(k.counts, ", ") {
				n, word, _ := strings.Cut(part, " ")
				assert.Equal(t, n, fmt.Sprint(counts[overview.Class(word)]), word)
			}
			headline := overview.Of(&document).Headline()
			musts := fmt.Sprintf("%d of %s failed", failed, reports.Count(tested, r.Deciding()))
			assert.Equal(t, failed > 0, strings.Contains(headline, musts), "%q in %q", musts, headline)
			problems := reports.Count(len(document.Problems), "problem")
			assert.Equal(t, len(document.Problems) > 0, strings.Contains(headline, problems), "%q in %q", problems, headline)
			for format, text := range formats {
				assert.Contains(t, text, headline, format)
				if pattern := problem[format]; pattern != nil {
					assert.Len(t, pattern.FindAllString(text, -1), len(document.Problems), format)
				}
			}
		})
	}
}

// cucumberStatuses counts the scenarios by the status that readers derive from their steps: the status of the first step
// that did not pass.
func cucumberStatuses(t *testing.T, document []byte) map[string]int {
	var all []struct {
		Elements []struct {
			Name  string
			Steps []struct{ Result struct{ Status string } }
		}
	}
	require.NoError(t, json.Unmarshal(document, &all))
	statuses := map[string]int{}
	for _, f := range all {
		for _, e := range f.Elements {
			status := "passed"
			for _, s := range e.Steps {
				if status == "passed" {
					status = s.Result.Status
				}
			}
			if e.Name == "verdict" {
				status = "the verdict " + status
			}
			statuses[status]++
		}
	}
	return statuses
}
