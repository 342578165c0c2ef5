package suite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
)

// specVersion is the version of the interface that the documents in spec describe (section 9).
const specVersion = "0.1.0"

// result puts together what the run learned. The order is that of the features, whatever the order of the run was.
func (r *run) result(selected []*features.Scenario) (*reports.Result, error) {
	if err := r.target.Collector.Err(); err != nil {
		return nil, err
	}
	res := &reports.Result{
		Schema: reports.Schema,
		Suite:  reports.Suite{Version: r.Version, Interface: specVersion, Requirements: len(r.Catalogue.Requirements)},
		Target: reports.Target{ControlPlane: r.target.Config.Target, AgentServer: r.target.AgentAddress(), Implementation: r.target.Config.Implementation, Rejecting: r.rejecting},
		Run: reports.Run{ID: r.target.RunID, Seed: r.Seed, StartedAt: r.start.UTC().Truncate(time.Millisecond),
			DurationMS: time.Since(r.start).Milliseconds(), Command: r.target.Redact.Text(r.Command), Strict: r.Strict, Shard: r.shard()},
		Requirements: []reports.Requirement{},
		Findings:     []reports.Finding{},
		Coverage:     r.target.Collector.Coverage(r.target.Sides()...),
		Timeline:     r.plane.Timeline(),
		Ledger:       r.target.Ledger.Entries(),
	}
	for i := range res.Timeline {
		res.Timeline[i].Revision, res.Timeline[i].Status = r.target.Redact.Text(res.Timeline[i].Revision), r.target.Redact.Text(res.Timeline[i].Status)
	}
	for i := range res.Ledger {
		res.Ledger[i].ID = r.target.Redact.Text(res.Ledger[i].ID)
	}
	for _, s := range selected {
		r.addScenario(res, s)
	}
	res.Counts.Cases = len(selected)
	res.Counts.Throttled, res.Counts.NotWaited = r.target.Collector.Throttled()
	res.Counts.WaitedMS = r.target.Client.Waited().Milliseconds()
	r.addFindings(res, selected)
	res.Exchanges = r.Journal
	if err := res.RenumberExchanges(r.target.Collector.Order()); err != nil {
		return nil, err
	}
	reports.Tally(res)
	res.Verdict = reports.Conclude(res.Requirements, r.Strict)
	res.Headline = r.headline(res)
	r.reportSuiteErrors(res)
	return res, nil
}

// reportSuiteErrors tells of requests of ours that break the contract though no scenario meant them to. Nothing that was learned
// by them counts against the target, and nothing makes it conformant.
func (r *run) reportSuiteErrors(res *reports.Result) {
	mistakes := r.target.Collector.OwnMistakes()
	if len(mistakes) == 0 {
		return
	}
	if res.Verdict == reports.Conformant {
		res.Verdict = reports.Incomplete
	}
	res.Headline = fmt.Sprintf("The suite sent %s against the contract; check create.body, or report it: %s",
		reports.Count(len(mistakes), "request"), r.target.Redact.Excerpt(mistakes[0]))
}

func (r *run) shard() string {
	if r.Select.Shards == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", r.Select.Shard, r.Select.Shards)
}

func (r *run) addScenario(res *reports.Result, s *features.Scenario) {
	v := r.verdicts[s.Key()]
	scenario := reports.Scenario{Name: s.Name, URI: s.URI, Line: s.Line, Verdict: reports.Passed,
		DurationMS: v.took.Milliseconds(), Exchanges: []int{}}
	if v.outcome != nil {
		scenario.Verdict, scenario.Reason = v.outcome.Verdict, r.target.Redact.Excerpt(v.outcome.Reason)
		scenario.Skip, scenario.BlockedBy = v.outcome.Skip, r.blockers(v.outcome)
	}
	for i, step := range s.Steps {
		shown := reports.Step{Keyword: step.Keyword, Text: step.Text, Line: step.Line}
		switch {
		case v.step < 0 || i < v.step:
			shown.Verdict = reports.Passed
		case i == v.step && v.sentence != "":
			shown.Verdict = scenario.Verdict
		}
		scenario.Steps = append(scenario.Steps, shown)
	}
	scenario.Exchanges = append(scenario.Exchanges, r.target.Collector.Of(s.Key()+" "+s.Name)...)
	scenario.Fixtures = r.maker.Uses(s.Key() + " " + s.Name)
	last := len(res.Requirements) - 1
	if last < 0 || res.Requirements[last].ID != s.Requirement.ID {
		q := s.Requirement
		res.Requirements = append(res.Requirements, reports.Requirement{ID: q.ID, Level: q.Level, Title: q.Title, Description: q.Description,
			Section: strings.Join(q.Sections, ", "), Profile: q.Profile, Feature: q.Feature, Verdict: reports.Skipped})
		last++
	}
	q := &res.Requirements[last]
	q.Scenarios = append(q.Scenarios, scenario)
	if worse := reports.Worse(q.Verdict, scenario.Verdict); worse != q.Verdict || len(q.Scenarios) == 1 {
		q.Verdict, q.Reason, q.Skip, q.BlockedBy = worse, scenario.Reason, scenario.Skip, scenario.BlockedBy
	}
}

// blockers are what kept a scenario from judging, each once.
func (r *run) blockers(o *outcome.Outcome) []reports.Blocker {
	if o.Verdict != reports.Blocked && o.Verdict != reports.Inconclusive {
		return nil
	}
	var all []reports.Blocker
	for _, b := range o.BlockedBy {
		b.Name = r.target.Redact.Text(b.Name)
		if !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	return all
}

// addFindings makes one finding of each fault: violations of one requirement by one sentence, operation and place
// are the same fault, however many rows of an outline showed it.
func (r *run) addFindings(res *reports.Result, selected []*features.Scenario) {
	known := map[string]int{}
	for _, s := range selected {
		v := r.verdicts[s.Key()]
		if v.outcome == nil {
			continue
		}
		for _, found := range v.outcome.Violations {
			f := r.finding(s, v.sentence, found)
			if at, again := known[f.ID]; again {
				res.Findings[at].Count += f.Count
				continue
			}
			known[f.ID] = len(res.Findings)
			res.Findings = append(res.Findings, f)
		}
	}
}

func (r *run) finding(s *features.Scenario, sentence string, v outcome.Violation) reports.Finding {
	f := reports.Finding{
		Requirement: s.Requirement.ID, Summary: r.target.Redact.Text(v.Summary), Step: sentence, Scenario: s.Key(),
		Expected: r.target.Redact.Text(v.Expected), Actual: r.target.Redact.Excerpt(v.Actual), Hint: v.Hint,
		Operation: r.target.Redact.Text(v.Operation), Pointer: r.target.Redact.Text(v.Pointer), Count: v.Count, Exchange: v.Exchange,
	}
	if v.Exchange > 0 {
		if x, err := r.Journal.Get(v.Exchange); err == nil {
			f.Curl = x.Curl
			if f.Operation == "" {
				f.Operation = r.operation(x)
			}
		}
	}
	if f.Summary == "" {
		f.Summary = sentence
	}
	key := v.Key
	if key == "" {
		key = r.forecast.sentences.Pattern(sentence)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Requirement, f.Operation, f.Pointer, key}, "\n")))
	f.ID = hex.EncodeToString(sum[:6])
	return f
}

// operation names the operation of a recorded exchange.
func (r *run) operation(x reports.Exchange) string {
	for _, side := range r.target.Sides() {
		for _, base := range r.target.Bases(side) {
			path, below := strings.CutPrefix(x.URL, base)
			if !below {
				continue
			}
			path, _, _ = strings.Cut(path, "?")
			if op, ok := r.Oracle.Find(side, x.Method, path); ok {
				return op.ID
			}
		}
	}
	return ""
}
