package export_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/reports/overview"
)

// kindsOfResults are the results that every consumer has to tell alike.
func kindsOfResults() map[string]kindOfResult {
	must := func(id string, v reports.Verdict) reports.Requirement {
		q := reports.Requirement{ID: id, Level: reports.Must, Verdict: v, Title: "The rule " + id, Feature: "F", Profile: "control-plane", Section: "4"}
		if v != reports.Passed {
			q.Reason = "expected 404, got 200"
		}
		return q
	}
	should := func(id string, v reports.Verdict) reports.Requirement {
		q := must(id, v)
		q.Level = reports.Should
		return q
	}
	binding := func(q reports.Requirement) reports.Requirement {
		q.Binding = true
		return q
	}
	by := func(q reports.Requirement, kind reports.BlockerKind, name string) reports.Requirement {
		q.BlockedBy = []reports.Blocker{{Kind: kind, Name: name}}
		return q
	}
	skip := func(id string, kind reports.SkipKind, key string) reports.Requirement {
		q := must(id, reports.Skipped)
		q.Skip, q.Reason = &reports.Skip{Kind: kind, Key: key}, ""
		return q
	}
	about := func(subject string, q reports.Requirement) reports.Requirement {
		q.Subject = subject
		return q
	}
	claimed := func(q reports.Requirement) reports.Requirement {
		q.Claimed = "tags"
		return q
	}
	claims := func(r *reports.Result) { r.Target.Supports = []string{"control-plane-core", "tags"} }
	plane := func(r *reports.Result) { r.Target.Supports = []string{"control-plane"} }
	agent := func(r *reports.Result) {
		r.Target.AgentServer, r.Target.Supports = "http://a", []string{"agent-server"}
		r.Requirements[0].Profile = "agent-server"
	}
	ok, notApplicable := must("A-1", reports.Passed), skip("A-9", reports.NotApplicable, "images")
	known := &baseline.Baseline{File: "known.yaml", Known: []baseline.Entry{{Requirement: "A-2", Reason: "old", Owner: "o"}}}
	both := &baseline.Baseline{File: "known.yaml", Known: append(known.Known, baseline.Entry{Requirement: "A-1"}, baseline.Entry{Requirement: "A-3"})}
	return map[string]kindOfResult{
		"conformant": {[]reports.Requirement{ok, should("A-2", reports.Passed), notApplicable}, nil, nil, "2 passed, 1 not applicable", 0,
			"conformant: 1 of 2 MUSTs passed, 1 not applicable"},
		"insecure": {[]reports.Requirement{ok}, func(r *reports.Result) { r.Target.Connection = &reports.Connection{Insecure: true} }, nil, "1 passed", 0,
			"conformant (insecure: certificates not verified): 1 of 1 MUST passed"},
		"warning only": {[]reports.Requirement{ok, should("A-2", reports.Failed)}, nil, nil, "1 passed, 1 warning", 0,
			"conformant: 1 of 1 MUST passed; 1 SHOULD failed, first A-2: expected 404, got 200"},
		"failed": {[]reports.Requirement{ok, must("A-2", reports.Failed), should("A-3", reports.Failed), must("A-4", reports.Blocked)}, nil, nil, "1 passed, 1 failed, 1 warning, 1 blocked", 1,
			"non-conformant: 1 of 3 MUSTs failed; first A-2: expected 404, got 200; 1 SHOULD failed"},
		"blocked": {[]reports.Requirement{ok, by(must("A-2", reports.Blocked), reports.ByRequirement, "A-7")}, nil, nil, "1 passed, 1 blocked", 3,
			"incomplete: 1 of 2 MUSTs passed, 1 could not be judged; A-2: expected 404, got 200"},
		"inconclusive": {[]reports.Requirement{ok, must("A-2", reports.Inconclusive)}, nil, nil, "1 passed, 1 inconclusive", 3,
			"incomplete: 1 of 2 MUSTs passed, 1 could not be judged; A-2: expected 404, got 200"},
		"unreachable": {[]reports.Requirement{by(must("A-1", reports.Blocked), reports.ByTarget, "http://h"), by(should("A-2", reports.Blocked), reports.ByTarget, "http://h")}, func(r *reports.Result) { r.Headline = "http://h does not answer" }, nil, "2 blocked", 3,
			"incomplete: no requirement was judged; http://h does not answer"},
		"stopped": {[]reports.Requirement{ok, by(must("A-2", reports.Inconclusive), reports.ByRun, "ended")}, func(r *reports.Result) { r.Run.Stopped = "--timeout 1s" }, nil, "1 passed, 1 not run", 3,
			"incomplete: stopped by --timeout 1s; 1 of 2 MUSTs passed, 1 could not be judged"},
		"stopped, failed": {[]reports.Requirement{must("A-1", reports.Failed), by(must("A-2", reports.Inconclusive), reports.ByRun, "ended")}, func(r *reports.Result) { r.Run.Stopped = "Ctrl-C" }, nil, "1 failed, 1 not run", 1,
			"non-conformant: stopped by Ctrl-C; 1 of 2 MUSTs failed; first A-1: expected 404, got 200"},
		"partial": {[]reports.Requirement{ok, skip("A-2", reports.NotConfigured, "create.body"), notApplicable}, nil, nil, "1 passed, 1 not applicable, 1 not judged", 0,
			"conformant (partial run): 1 of 3 requirements judged, no MUST failed; set create.body to judge 1 more"},
		"whole required": {[]reports.Requirement{ok, skip("A-2", reports.NotConfigured, "create.body")}, func(r *reports.Result) { r.Run.Whole = true }, nil, "1 passed, 1 not judged", 3,
			"incomplete (partial run): 1 of 2 requirements judged, no MUST failed; --require-whole: 1 requirement not judged; set create.body to judge 1 more"},
		"not claimed": {[]reports.Requirement{ok, skip("A-2", reports.NotClaimed, "create.body"), notApplicable}, claims, nil, "1 passed, 1 not applicable, 1 not claimed", 0,
			"conformant (partial run): 1 of 3 requirements judged, no MUST failed; 1 MUST not claimed"},
		"not claimed, whole required": {[]reports.Requirement{ok, skip("A-2", reports.NotClaimed, "create.body")}, func(r *reports.Result) { claims(r); r.Run.Whole = true }, nil, "1 passed, 1 not claimed", 3,
			"incomplete (partial run): 1 of 2 requirements judged, no MUST failed; --require-whole: 1 requirement not judged; 1 MUST not claimed"},
		"not claimed, failed": {[]reports.Requirement{must("A-1", reports.Failed), skip("A-2", reports.NotClaimed, "create.body")}, claims, nil, "1 failed, 1 not claimed", 1,
			"non-conformant (partial run): 1 of 1 MUST failed; first A-1: expected 404, got 200; 1 MUST not claimed"},
		"claimed, not configured": {[]reports.Requirement{ok, claimed(skip("A-2", reports.NotConfigured, "create.body"))}, claims, nil, "1 passed, 1 not judged", 3,
			"incomplete (partial run): 1 of 2 requirements judged, no MUST failed; claimed and not judged: tags (set create.body); set create.body to judge 1 more"},
		"claimed, blocked": {[]reports.Requirement{ok, claimed(by(should("A-2", reports.Blocked), reports.ByRequirement, "A-7"))}, claims, nil, "1 passed, 1 blocked", 3,
			"incomplete: 1 of 1 MUST passed; A-2: expected 404, got 200; claimed and not judged: tags (A-2 blocked)"},
		"claimed, inconclusive": {[]reports.Requirement{ok, claimed(should("A-2", reports.Inconclusive))}, claims, nil, "1 passed, 1 inconclusive", 3,
			"incomplete: 1 of 1 MUST passed; A-2: expected 404, got 200; claimed and not judged: tags (A-2 inconclusive)"},
		"named, not applicable": {[]reports.Requirement{ok, claimed(notApplicable)}, claims, nil, "1 passed, 1 not applicable", 3,
			"incomplete: 1 of 2 MUSTs passed, 1 not applicable; claimed and not judged: tags (A-9 does not apply here: remove tags from supports)"},
		"claimed, not applicable": {[]reports.Requirement{ok, claimed(notApplicable)}, plane, nil, "1 passed, 1 not applicable", 0,
			"conformant: 1 of 2 MUSTs passed, 1 not applicable"},
		"agent only": {[]reports.Requirement{ok, skip("A-2", reports.NotConfigured, "target")}, func(r *reports.Result) { agent(r); r.Target.ControlPlane = "" }, nil, "1 passed, 1 not judged", 0,
			"conformant (agent server): 1 of 1 MUST passed"},
		"agent only, claimed": {[]reports.Requirement{ok, skip("A-2", reports.NotClaimed, "control-plane"), skip("E-1", reports.NotClaimed, "end-to-end")}, agent, nil, "1 passed, 2 not claimed", 0,
			"conformant (agent server): 1 of 1 MUST passed"},
		"baseline": {[]reports.Requirement{ok, must("A-2", reports.Failed)}, nil, known, "1 passed, 1 known", 0,
			"non-conformant (all failures are in the baseline, exit 0): 1 of 2 MUSTs failed (1 in the baseline)"},
		"stale baseline": {[]reports.Requirement{ok, must("A-2", reports.Passed)}, nil, known, "2 passed", 1,
			"conformant (in the baseline known.yaml:0: A-2 passes; remove the entry; exit 1): 2 of 2 MUSTs passed"},
		"known and blocked": {[]reports.Requirement{ok, must("A-2", reports.Failed), must("A-3", reports.Blocked)}, nil, known, "1 passed, 1 known, 1 blocked", 3,
			"non-conformant (all failures are in the baseline; other MUSTs could not be judged, exit 3): 1 of 3 MUSTs failed (1 in the baseline); A-3: expected 404, got 200"},
		"known, and stale": {[]reports.Requirement{must("A-1", reports.Failed), must("A-2", reports.Passed), must("A-3", reports.Failed)}, nil, both, "1 passed, 2 known", 1,
			"non-conformant (all failures are in the baseline, but known.yaml:0: A-2 passes; remove the entry; exit 1): 2 of 3 MUSTs failed (2 in the baseline)"},
		"new failure": {[]reports.Requirement{ok, must("A-2", reports.Failed), must("A-3", reports.Failed)}, nil, known, "1 passed, 1 failed, 1 known", 1,
			"non-conformant: 2 of 3 MUSTs failed (1 in the baseline); first A-3: expected 404, got 200"},
		"fail on": {[]reports.Requirement{ok, binding(should("A-2", reports.Failed)), should("A-3", reports.Failed)}, func(r *reports.Result) { r.Run.FailOn = "@security" }, nil, "1 passed, 1 failed, 1 warning", 1,
			"non-conformant: 1 of 2 requirements failed; first A-2: expected 404, got 200; 1 SHOULD failed"},
		"fail on, blocked": {[]reports.Requirement{ok, binding(should("A-2", reports.Blocked))}, func(r *reports.Result) { r.Run.FailOn = "@security" }, nil, "1 passed, 1 blocked", 3,
			"incomplete: 1 of 2 requirements passed, 1 could not be judged; A-2: expected 404, got 200"},
		"the gravest failure first": {[]reports.Requirement{about("form", must("A-1", reports.Failed)), must("B-1", reports.Failed), about("security", must("D-1", reports.Failed)), about("rollback", must("C-1", reports.Failed))}, nil, nil, "4 failed", 1,
			"non-conformant: 4 of 4 MUSTs failed; first D-1: expected 404, got 200"},
		"a failure in a part": {[]reports.Requirement{ok, must("A-2", reports.Failed), skip("A-3", reports.OverBudget, "create.body")}, nil, nil, "1 passed, 1 failed, 1 not judged", 1,
			"non-conformant (partial run): 1 of 2 MUSTs failed; first A-2: expected 404, got 200"},
		"agent only, whole required": {[]reports.Requirement{ok, skip("A-2", reports.NotConfigured, "target")}, func(r *reports.Result) { agent(r); r.Target.ControlPlane, r.Run.Whole = "", true }, nil, "1 passed, 1 not judged", 3,
			"incomplete (agent server): 1 of 1 MUST passed; --require-whole: 1 requirement not judged"},
		"agent only, in part": {[]reports.Requirement{ok, skip("A-2", reports.NotClaimed, "control-plane"), skip("A-3", reports.NotClaimed, "rollback")}, agent, nil, "1 passed, 2 not claimed", 0,
			"conformant (partial run): 1 of 3 requirements judged, no MUST failed; 2 MUSTs not claimed"},
		"both halves, not end to end": {[]reports.Requirement{ok, must("A-2", reports.Passed), skip("E-1", reports.NotClaimed, "end-to-end")}, agent, nil, "2 passed, 1 not claimed", 0,
			"conformant (partial run): 2 of 3 requirements judged, no MUST failed; 1 MUST not claimed"},
		"nothing but refusals": {[]reports.Requirement{ok, skip("A-2", reports.NotConfigured, "create.body")}, func(r *reports.Result) {
			r.Unseen, r.Headline = []string{"control-plane"}, "no successful answer was seen"
		}, nil, "1 passed, 1 not judged", 3,
			"incomplete (partial run): 1 of 2 requirements judged, no MUST failed; no successful answer was seen"},
		"only a SHOULD": {[]reports.Requirement{should("A-1", reports.Passed)}, nil, nil, "1 passed", 3,
			"incomplete: no MUST was judged, only 1 requirement of another level"},
		"one cause of two": {[]reports.Requirement{ok, by(must("A-2", reports.Blocked), reports.ByTarget, "http://h"), by(must("A-3", reports.Blocked), reports.ByTarget, "http://h"), must("A-4", reports.Blocked)}, nil, nil, "1 passed, 3 blocked", 3,
			"incomplete: 1 of 4 MUSTs passed, 3 could not be judged; A-2 and 1 more: expected 404, got 200"},
	}
}

type kindOfResult struct {
	requirements []reports.Requirement
	change       func(*reports.Result)
	known        *baseline.Baseline
	counts       string // as every format tells them
	exit         int
	first        string // the first line: the verdict and the headline
}

func (k kindOfResult) result() *reports.Result {
	r := &reports.Result{Schema: reports.Schema, Target: reports.Target{ControlPlane: "http://h"}, Requirements: k.requirements,
		Suite: reports.Suite{Version: "1.2.3", Commit: "0123456789abcdef", Interface: "0.1.0", Requirements: len(k.requirements), Digest: "sha256:" + strings.Repeat("ab", 32)}}
	for i := range r.Requirements {
		q := &r.Requirements[i]
		step := reports.Step{Keyword: "When", Text: "something is done", Line: 3}
		if q.Verdict == reports.Passed || q.Verdict == reports.Failed {
			step.Verdict = reports.Passed // as if the step that failed had not been marked
		}
		q.Scenarios = []reports.Scenario{{Name: "Scenario " + q.ID, URI: "f.feature", Line: i + 1, Verdict: q.Verdict, Reason: q.Reason,
			Skip: q.Skip, BlockedBy: q.BlockedBy, Exchanges: []int{}, Steps: []reports.Step{step}}}
	}
	if k.change != nil {
		k.change(r)
	}
	reports.SetScope(r, nil)
	reports.Tally(r)
	r.Verdict = reports.ConcludeRun(r)
	if k.known != nil {
		baseline.Apply(r, k.known, time.Time{})
	}
	return r
}

// TestConsumersAgree holds every format to the same verdict, the same counts, the same scope, the same claims and the same
// exit code.
func TestConsumersAgree(t *testing.T) {
	for name, k := range kindsOfResults() {
		t.Run(name, func(t *testing.T) {
			r, dir := k.result(), t.TempDir()
			require.NoError(t, export.Write(dir, r))
			o := overview.Of(r)
			display := o.Display()
			assert.Equal(t, k.exit, display.Exit)
			assert.Equal(t, k.first, o.FirstLine())
			scope := reports.ScopeWhole
			if display.Scope == " (partial run)" || display.Scope == " (agent server)" {
				scope = reports.ScopePart
			}
			assert.Equal(t, scope, r.Scope)

			var terminal bytes.Buffer
			require.NoError(t, console.Write(&terminal, r, console.Options{}))
			formats := map[string]string{"console": terminal.String()} // as a reader sees them
			for _, file := range export.Files() {
				if content, err := os.ReadFile(filepath.Join(dir, file)); err == nil {
					formats[file] = strings.NewReplacer(`\`, "", "`", "", "&#39;", "'", "&#xA;", "\n").Replace(string(content))
				}
			}
			show := func(text string, files ...string) {
				for _, file := range files {
					assert.True(t, text == "" || strings.Contains(formats[file], text), "%s does not show %s", file, text)
				}
			}
			all := []string{"console", "summary.md", "index.html", "badge.svg", "junit.xml", "cucumber.json", "result.har"}
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
			lines := strings.Split(strings.TrimSpace(terminal.String()), "\n")
			assert.Contains(t, lines[0], k.first)
			assert.True(t, strings.HasSuffix(lines[len(lines)-1], " "+display.String()), lines[len(lines)-1])

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
			assert.Equal(t, k.exit != 0, junit.Failures+junit.Errors > 0, "a CI system is red exactly where the exit code is not 0")

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

// cucumberStatuses counts the scenarios by the status that a reader takes them for: the first of their steps that is not
// passed.
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
