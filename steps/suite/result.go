package suite

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/outcome"
)

// result collects what the run observed, in the order of the features, and how long it took to remove what was created.
func (r *run) result(selected []*features.Scenario, removal time.Duration) (*reports.Result, error) {
	res := &reports.Result{
		Schema: reports.Schema,
		Suite: reports.Suite{Version: r.Version, Commit: r.Commit, Interface: spec.Version, Requirements: len(r.Catalogue.Requirements),
			Digest: r.Catalogue.Digest()},
		Target: reports.Target{ControlPlane: r.target.Config.Target, AgentServer: r.target.Redact.Text(r.target.AgentAddress()), Implementation: r.target.Config.Implementation, Rejecting: r.rejecting, Connection: r.target.Config.Connection(), Supports: r.target.Config.Supports},
		Run: reports.Run{ID: r.target.RunID, Seed: r.Seed, StartedAt: r.start.UTC().Truncate(time.Millisecond),
			DurationMS: time.Since(r.start).Milliseconds(), Command: r.target.Redact.Command("agentconform", r.Arguments...), Arguments: r.target.Redact.Texts(r.Arguments),
			Strict: r.Strict, ReadOnly: r.target.Config.ReadOnly, FailOn: strings.Join(r.FailOn, " or "), Whole: r.RequireWhole, Stopped: r.target.Redact.Text(r.stopped)},
		Requirements: []reports.Requirement{},
		Findings:     []reports.Finding{},
		Coverage:     r.target.Collector.Coverage(r.target.Sides()...),
		Timeline:     r.plane.Timeline(),
		Ledger:       r.target.Ledger.Entries(),
	}
	about := &res.Target.Implementation // its home page may be a URL with a password
	r.redact(&about.Name, &about.Version, &about.URL, &about.Contact)
	for i := range res.Timeline {
		r.redact(&res.Timeline[i].Revision, &res.Timeline[i].Status)
	}
	for i := range res.Ledger {
		e := &res.Ledger[i]
		r.redact(&e.ID, &e.Thread, &e.Deployment, &e.Address, &e.Reason)
	}
	for _, s := range selected {
		r.addScenario(res, s)
	}
	explain(res, r.Catalogue)
	if removal >= time.Second || r.stopped != "" {
		res.Run.RemovalMS = removal.Milliseconds()
	}
	res.Counts.Cases = len(selected)
	res.Counts.Throttled, res.Counts.NotWaited = r.target.Collector.Throttled()
	res.Counts.Explored = r.explored
	res.Counts.WaitedMS = r.target.Client.Waited().Milliseconds()
	comparisons := r.addFindings(res, selected)
	res.Notes = r.notes()
	res.Exchanges = r.target.Collector.Exchanges
	order := r.target.Collector.Order()
	if err := res.RenumberExchanges(order); err != nil {
		return nil, err
	}
	r.chains().describeComparisons(res, comparisons, order)
	reports.Tally(res)
	reports.SetScope(res, absent(r.Catalogue, r.Select, res))
	res.Unseen = r.unseen(res)
	res.Verdict = reports.ConcludeRun(res)
	res.Headline = r.headline(res)
	r.tellWords(res)
	r.reportSuiteErrors(res)
	return res, nil
}

// reportSuiteErrors reports requests of the suite that break the contract by mistake. Their answers are not violations of the
// target, and the run is never conformant.
func (r *run) reportSuiteErrors(res *reports.Result) {
	mistakes := r.target.Collector.OwnMistakes()
	if len(mistakes) == 0 {
		return
	}
	if res.Verdict == reports.Conformant {
		res.Verdict = reports.Incomplete
	}
	res.Headline = fmt.Sprintf("the suite sent %s with a mistake: check create.body, or report a bug of the suite: %s",
		reports.Count(len(mistakes), "request"), r.target.Redact.Excerpt(mistakes[0]))
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
		res.Requirements = append(res.Requirements, reports.Requirement{ID: q.ID, Level: q.Level, Binding: r.binding(q),
			Title: q.Title, Quote: q.Quote, Description: q.Description, Section: strings.Join(q.Sections, ", "),
			Profile: q.Profile, Feature: q.Feature, Subject: q.Subject,
			Claimed: features.Claims(r.target.Config.Supports).Promised(q), Verdict: reports.Skipped})
		last++
	}
	q := &res.Requirements[last]
	q.Scenarios = append(q.Scenarios, scenario)
	if worse := reports.Worse(q.Verdict, scenario.Verdict); worse != q.Verdict || len(q.Scenarios) == 1 {
		q.Verdict, q.Reason, q.Skip, q.BlockedBy = worse, scenario.Reason, scenario.Skip, scenario.BlockedBy
	}
}

// explain says of each failed requirement which other failures explain it.
func explain(res *reports.Result, c *features.Catalogue) {
	failed := map[string]bool{}
	for _, q := range res.Requirements {
		failed[q.ID] = q.Verdict == reports.Failed
	}
	for i := range res.Requirements {
		q := &res.Requirements[i]
		if failed[q.ID] {
			q.ExplainedBy = slices.DeleteFunc(slices.Clone(c.Find(q.ID).After), func(id string) bool { return !failed[id] })
		}
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
// It returns what each finding compares, in exchanges as they are numbered so far.
func (r *run) addFindings(res *reports.Result, selected []*features.Scenario) (comparisons []outcome.Comparison) {
	known := map[string]int{}
	updates := sync.OnceValue(r.chains().updates) // of a run without findings nobody asks
	for _, s := range selected {
		v := r.verdicts[s.Key()]
		if v.outcome == nil || v.outcome.Verdict != reports.Failed {
			continue
		}
		for _, found := range v.outcome.Violations {
			f := r.finding(s, v.sentence, found)
			r.seenAgain(&f, s, v)
			if at, twice := known[f.ID]; twice {
				same := &res.Findings[at]
				same.Count += f.Count
				same.Judged, same.Seen = max(same.Judged, f.Judged), max(same.Seen, f.Seen)
				same.Sites = append(same.Sites, f.Sites...)
				continue
			}
			known[f.ID] = len(res.Findings)
			f.Exchanges = r.chains().of(s, found, updates())
			res.Findings, comparisons = append(res.Findings, f), append(comparisons, found.Compared)
		}
	}
	return comparisons
}

// seenAgain enters whether the second judgement of the scenario, if it came as far as the first, has shown the finding too.
func (r *run) seenAgain(f *reports.Finding, s *features.Scenario, first *verdict) {
	v := r.again[s.Key()]
	if v == nil || v.outcome != nil && v.outcome.Verdict != reports.Passed && (v.outcome.Verdict != reports.Failed || v.step < first.step) {
		return
	}
	f.Judged, f.Seen = 2, 1
	if v.outcome != nil && slices.ContainsFunc(v.outcome.Violations, func(found outcome.Violation) bool { return r.finding(s, v.sentence, found).ID == f.ID }) {
		f.Seen = 2
	}
}

func (r *run) finding(s *features.Scenario, sentence string, v outcome.Violation) reports.Finding {
	expected, actual := outcome.CutAround(r.target.Redact.Text(v.Expected), r.target.Redact.Excerpt(v.Actual), v.Differs)
	f := reports.Finding{
		Requirement: s.Requirement.ID, Summary: v.Summary, Step: sentence, Scenario: s.Key(), Expected: expected, Actual: actual, Hint: v.Hint,
		Operation: v.Operation, Pointer: v.Pointer, Count: v.Count, Exchange: v.Exchange, Sites: []string{v.Site},
	}
	r.redact(&f.Summary, &f.Operation, &f.Pointer)
	if v.Exchange > 0 {
		if x, err := r.target.Collector.Exchanges.Get(v.Exchange); err == nil {
			f.Curl = x.Curl
			f.Operation = cmp.Or(f.Operation, r.target.Collector.Observation(v.Exchange).Op.ID)
		}
	}
	withWords(r.target, &f)
	if f.Summary == "" {
		f.Summary = cmp.Or(f.Observation(), sentence)
	}
	key := v.Key
	if key == "" {
		key = r.expressions.Pattern(sentence)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Requirement, f.Operation, f.Pointer, key}, "\n")))
	f.ID = hex.EncodeToString(sum[:6])
	return f
}

// redact takes secrets out of texts that are reported.
func (r *run) redact(texts ...*string) {
	for _, text := range texts {
		*text = r.target.Redact.Text(*text)
	}
}

// absent lists the requirements of the catalogue that were not selected, with the option that left them out.
func absent(c *features.Catalogue, selected Selection, res *reports.Result) []reports.NotJudged {
	var all []reports.NotJudged
	for _, q := range c.Requirements {
		if !slices.ContainsFunc(res.Requirements, func(had reports.Requirement) bool { return had.ID == q.ID }) {
			all = append(all, reports.NotJudged{ID: q.ID, Kind: reports.NotSelected, Key: selected.LeavesOut(q.ID)})
		}
	}
	return all
}

// notes are what is no failure and what a user wants to know all the same.
func (r *run) notes() []reports.Note {
	all := r.target.Notes()
	if own := r.target.Collector.OwnToken(); own.Answers > 0 {
		all = append(all, reports.Note{Kind: reports.NoteOwnToken, Count: own.Answers, Exchange: own.Exchange, Pointer: own.Pointer,
			Text: "the answer contains the caller's own token in clear"})
	}
	entries := r.target.Ledger.Entries()
	if found, remedy := r.target.Unfetched(); found != "" && slices.ContainsFunc(entries, func(e reports.LedgerEntry) bool { return e.Kind == "deployment" }) {
		all = append(all, reports.Note{Kind: reports.NoteFixtures, Text: r.target.Redact.Excerpt(found + ": the target's builder does not reach them, or does not build from them; " + remedy)})
	}
	for _, e := range entries {
		if e.Unremovable && e.Kind == evidence.Thread {
			all = append(all, reports.Note{Kind: reports.NoteRemoval, Text: r.target.Redact.Excerpt("the agent server does not remove threads, those of this run stay: " + e.Reason)})
			break
		}
	}
	return all
}

// judgedApart are the outcomes of the scenarios that send requests: all of them have ended when the record is judged.
func (r *run) judgedApart() (all []invariants.Other) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range append(r.Catalogue.Scenarios(), r.failures...) {
		if v := r.verdicts[s.Key()]; v != nil && v.outcome != nil && !s.Terms.Record {
			all = append(all, invariants.Other{Requirement: s.Requirement, Outcome: v.outcome})
		}
	}
	return all
}
