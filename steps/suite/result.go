package suite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/outcome"
)

// result returns the result of the test run, in the order of the features. removal is the time of the cleanup.
func (r *run) result(ctx context.Context, removal time.Duration) *reports.Result {
	c, text := r.target.Config, r.target.Redact.Text
	stopped := r.stoppedBy(ctx)
	r.conclude()
	if r.isRepeated() {
		r.counting.finish()
		r.notCounting.finish()
	}
	res := &reports.Result{
		Schema: reports.Schema,
		Suite: reports.Suite{Version: r.Version, Commit: r.Commit, Interface: spec.Version,
			Requirements: len(r.Catalogue.Requirements), Digest: r.Catalogue.Digest()},
		Target: reports.Target{ControlPlane: c.Target, AgentServer: text(r.target.AgentAddress()),
			Implementation: safe.Copy(c.Implementation, text), // the home page in it may be a URL with a password
			Rejecting:      r.rejecting, Connection: c.Connection(), Supports: c.Supports, Users: r.userNames()},
		Run: reports.Run{ID: r.target.RunID, Seed: r.Seed, StartedAt: r.start.UTC().Truncate(time.Millisecond),
			DurationMS: time.Since(r.start).Milliseconds(), Stopped: text(stopped), ReadOnly: c.ReadOnly,
			Command:   r.target.Redact.Command("agentconform", r.Arguments...),
			Arguments: safe.Copy(r.Arguments, text), Strict: slices.Contains(r.FailOn, "should"),
			FailOn: strings.Join(r.FailOn, " or "), Whole: r.RequireWhole},
		Capabilities: features.Capabilities(func(id string) bool { return r.Set == nil || r.Set.Requirements[id].Level != "" }),
		Requirements: r.counting.requirements,
		Coverage:     r.target.Collector.Coverage(r.target.Sides()...),
		Timeline:     safe.Copy(r.plane.Timeline(), text),
		Ledger:       safe.Copy(r.target.Ledger.Entries(), text),
	}
	if r.isRepeated() {
		res.Run.Repeat, res.Run.Repeated = r.Repeat, r.repetition
	}
	if r.Set != nil {
		res.Suite.Set = r.Set.Version
		res.NotScored = r.notScored()
	}
	if removal >= time.Second || stopped != "" {
		res.Run.RemovalMS = removal.Milliseconds()
	}
	res.Counts.Cases = len(r.selected)
	granted, refused, long := r.target.Client.Waited()
	res.Counts.Throttled = granted
	res.Counts.NotWaited = refused
	res.Counts.WaitedMS = long.Milliseconds()
	res.Counts.Explored = r.explored
	order := r.order()
	res.Findings = r.compared(r.counting.findings, order)
	if res.NotScored != nil {
		res.NotScored.Findings = r.compared(r.notCounting.findings, order)
	}
	res.Notes = r.notes(stopped != "")
	res.SetExchanges(order, r.target.Collector.Exchange)
	reports.Tally(res)
	if r.isRepeated() {
		res.Counts.Exchanges = r.target.Collector.Count()
	}
	reports.SetScope(res, r.absent(res))
	res.MissingKeys = r.missingKeys(res)
	res.Unseen = r.unseen(res)
	res.Verdict = reports.ConcludeRun(res)
	reports.SetProblems(res)
	res.Headline = r.headline(res, r.rejected)
	if r.wrongWords != "" && res.Verdict != reports.NonConformant {
		res.Verdict, res.Headline = reports.Incomplete, r.wrongWords
	}
	r.reportSuiteErrors(res)
	return res
}

// userNames returns the name of each user in the configuration, or its identity, or "".
func (r *run) userNames() (names []string) {
	for _, u := range r.target.Config.Users {
		names = append(names, r.target.Redact.Text(cmp.Or(u.Name, u.Identity)))
	}
	return names
}

// reportSuiteErrors reports requests of the suite that break the contract by mistake. The responses are not violations by
// the target, and the test run is not conformant.
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

// notScored returns the results of the scenarios that the requirement set lacks, or nil if there are none.
func (r *run) notScored() *reports.NotScored {
	if len(r.notCounting.requirements) == 0 {
		return nil
	}
	return &reports.NotScored{Requirements: r.notCounting.requirements}
}

// addFindings adds the findings of scenarios. Violations with the same ID, such as those of several rows of an outline,
// are one finding with a count.
func (r *run) addFindings(to *results, scenarios []*features.Scenario) {
	known := map[string]int{}
	all := r.target.Collector.Observations()
	for _, s := range scenarios {
		v := r.verdicts[s.Key()]
		if v.Verdict != reports.Failed {
			continue
		}
		for _, found := range v.Violations {
			f := r.finding(s, v, found)
			r.seenAgain(&f, s, v)
			if at, twice := known[f.ID]; twice {
				same := &to.findings[at]
				same.Count += f.Count
				same.Judged = max(same.Judged, f.Judged)
				same.Seen = max(same.Seen, f.Seen)
				continue
			}
			known[f.ID] = len(to.findings)
			if first := r.repeated(s, found.Kind, found.Exchange); first > 0 && found.Compared == (outcome.Comparison{}) {
				found.Compared = outcome.Comparison{Shown: found.Exchange, With: first}
			}
			f.Exchanges = r.chain(s, found, all)
			to.findings = append(to.findings, finding{f, found.Compared, isLeakKind(s.Requirement, found.Kind)})
		}
	}
}

// compared returns the findings with the exchanges that they compare. order has the IDs of the exchanges in the result.
func (r *run) compared(findings []finding, order []int) []reports.Finding {
	all := []reports.Finding{}
	for _, f := range findings {
		f.Compared = r.comparison(f.compares, order)
		all = append(all, f.Finding)
	}
	return all
}

// seenAgain counts a second judgement that reached the same step as the first, and records whether it also showed the
// finding.
func (r *run) seenAgain(f *reports.Finding, s *features.Scenario, first *verdict) {
	v := first.again
	if v == nil || v.Verdict != reports.Passed && (v.Verdict != reports.Failed || v.step < first.step) {
		return
	}
	f.Judged, f.Seen = 2, 1
	if slices.ContainsFunc(v.Violations, func(found outcome.Violation) bool {
		return r.finding(s, v, found).ID == f.ID
	}) {
		f.Seen = 2
	}
}

func (r *run) finding(s *features.Scenario, of *verdict, v outcome.Violation) reports.Finding {
	text, step := r.target.Redact.Text, s.Steps[of.step].Text
	expected, actual := outcome.CutAround(text(v.Expected), r.target.Redact.Excerpt(v.Actual))
	f := reports.Finding{
		Requirement: s.Requirement.ID, Summary: text(cmp.Or(v.Summary, step)), Step: step, Scenario: s.Key(), Expected: expected,
		Actual: actual, Hint: v.Hint, Operation: text(v.Operation), Pointer: text(v.Pointer),
		Kind: string(v.Kind), Class: text(v.Class), Count: v.Count, Exchange: v.Exchange, Check: r.check(v),
	}
	if v.Exchange > 0 {
		f.Curl = r.target.Collector.Exchange(v.Exchange).Curl
		f.Operation = cmp.Or(f.Operation, r.target.Collector.Observation(v.Exchange).Op.ID)
	}
	operation := f.Operation // without a response, the operation is a path with ids, and the ID of the finding must not depend on ids
	if v.Exchange > 0 {
		operation = cmp.Or(r.target.Collector.Observation(v.Exchange).Op.ID, operation)
	}
	f.ID = findingID(f.Requirement, operation, v)
	return f
}

// plainText matches texts that are the same in JSON and that the redaction of secrets does not change.
var plainText = regexp.MustCompile(`^[A-Za-z0-9 ._=-]+$`)

// check returns the check of a violation, or nil if a script cannot look for its texts in a body.
func (r *run) check(v outcome.Violation) *reports.Check {
	if v.Check == nil || v.Exchange == 0 {
		return nil
	}
	for _, text := range slices.Concat(v.Check.Contains, v.Check.Lacks, v.Check.Requires) {
		if !plainText.MatchString(text) || r.target.Redact.Text(text) != text {
			return nil
		}
	}
	return v.Check
}

// findingID returns the id of a finding. It depends on the requirement, the operation, the pointer in the body without
// indices, and the kind and class of the violation, but not on any text. The empty last part keeps the IDs the same as in
// earlier versions.
func findingID(requirement, operation string, v outcome.Violation) string {
	const event = ""
	parts := []string{requirement, operation, spec.WithoutIndices(v.Pointer), string(v.Kind), v.Class, event}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:6])
}

// absent lists the requirements that were not selected, with the option that excluded them, and the requirements of a
// half without an address.
func (r *run) absent(res *reports.Result) []reports.NotJudged {
	var all []reports.NotJudged
	for _, q := range r.Catalogue.Requirements {
		if res.Requirement(q.ID) != nil || res.NotScored.Has(q.ID) {
			continue
		}
		why := reports.Skip{Kind: reports.NotSelected, Key: r.Select.LeavesOut(q.ID)}
		if r.isAlone && (q.Profile != features.AgentServer || why.Key == "") {
			why = reports.Skip{Kind: reports.OtherHalf, Key: "target"}
		}
		all = append(all, reports.NotJudged{ID: q.ID, Skip: why})
	}
	return all
}

// longWait is the minimum time that a revision must have kept a status for the result of a stopped test run to name it.
const longWait = 10 * time.Second

// notes returns observations that are not failures but may matter to a user.
func (r *run) notes(isStopped bool) []reports.Note {
	all := r.target.Notes()
	revision, status, since := r.plane.Waiting()
	if wait := time.Since(since).Round(time.Second); isStopped && revision != "" && wait >= longWait {
		all = append(all, reports.Note{Kind: reports.NoteWaiting, Text: r.target.Redact.Excerpt(fmt.Sprintf(
			"when the test run was stopped, revision %s had been %s for %s: the suite waits up to timeouts.poll (%s) for it",
			revision, status, wait, r.target.Config.Timeouts.Poll))})
	}
	if own := r.target.Collector.OwnToken(); own.Count > 0 {
		all = append(all, own)
	}
	entries := r.target.Ledger.Entries()
	isDeployment := func(e reports.LedgerEntry) bool { return e.Kind == evidence.Deployment }
	if found, remedy := r.target.Unfetched(); found != "" && slices.ContainsFunc(entries, isDeployment) {
		all = append(all, reports.Note{Kind: reports.NoteFixtures, Text: r.target.Redact.Excerpt(found +
			": the target's builder does not reach them, or does not build from them; " + remedy)})
	}
	stays := func(e reports.LedgerEntry) bool { return e.Unremovable && e.Kind == evidence.Thread }
	if at := slices.IndexFunc(entries, stays); at >= 0 {
		all = append(all, reports.Note{Kind: reports.NoteRemoval, Text: r.target.Redact.Excerpt(
			"the agent server does not remove threads, those of this test run stay: " + entries[at].Reason)})
	}
	return all
}

// otherOutcomes returns the outcomes of the scenarios that send requests. All of them have ended when the record is
// judged.
func (r *run) otherOutcomes() (all []invariants.Other) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.selected {
		if v := r.verdicts[s.Key()]; v != nil && !s.Terms.Record {
			all = append(all, invariants.Other{Requirement: s.Requirement, Outcome: v.Outcome})
		}
	}
	return all
}
