package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Merge makes one result of all the shards of a run. A requirement takes the worst of its scenarios, wherever they
// ran. Shards of different runs, shards given twice and missing shards are errors. A baseline is applied to the merged
// result, not to its shards; what the shards say of a baseline is dropped.
func Merge(shards ...*reports.Result) (*reports.Result, error) {
	ordered, err := inOrder(shards)
	if err != nil {
		return nil, fmt.Errorf("merging: %w", err)
	}
	first := ordered[0]
	m := &reports.Result{Schema: reports.Schema, Suite: first.Suite, Target: first.Target, Run: first.Run}
	m.Run.Shard, m.Run.Least = "", nil // the times of shards tell nothing of a run of all
	end := first.Run.StartedAt
	for _, s := range ordered {
		if s.Run.StartedAt.Before(m.Run.StartedAt) {
			m.Run.StartedAt = s.Run.StartedAt
		}
		m.Run.Stopped = cmp.Or(m.Run.Stopped, s.Run.Stopped)
		if e := s.Run.StartedAt.Add(ms(s.Run.DurationMS)); e.After(end) {
			end = e
		}
	}
	m.Run.DurationMS = end.Sub(m.Run.StartedAt).Milliseconds()
	store := &joined{}
	for _, s := range ordered {
		shift := s.Run.StartedAt.Sub(m.Run.StartedAt).Milliseconds()
		offset := store.add(s.Exchanges, shift)
		addRequirements(m, s, offset)
		addFindings(m, s, offset)
		addNotes(m, s, offset)
		addCoverage(&m.Coverage, s.Coverage)
		for _, t := range s.Timeline {
			t.AtMS += shift
			m.Timeline = append(m.Timeline, t)
		}
		m.Ledger = append(m.Ledger, s.Ledger...)
		m.Counts.Cases += max(s.Counts.Cases-scenariosIn(s), 0) // those that are no scenario; the scenarios are counted at the end
		m.Counts.Throttled += s.Counts.Throttled
		m.Counts.WaitedMS += s.Counts.WaitedMS
		m.Counts.NotWaited += s.Counts.NotWaited
	}
	m.Exchanges = store
	finish(m, ordered)
	return m, nil
}

// inOrder checks that the results are the shards of one run, each of them once, and sorts them.
func inOrder(shards []*reports.Result) ([]*reports.Result, error) {
	if len(shards) == 0 {
		return nil, errors.New("no result file given: name the result.json of each shard")
	}
	var ordered []*reports.Result
	for i, s := range shards {
		at, of, err := shardOf(s)
		if err != nil {
			return nil, fmt.Errorf("result %d (%s): %w", i+1, s.Run.ID, err)
		}
		if ordered == nil {
			ordered = make([]*reports.Result, of)
		}
		if of != len(ordered) {
			return nil, fmt.Errorf("result %d is shard %s, another result is a shard of %d: name the shards of one run", i+1, s.Run.Shard, len(ordered))
		}
		if ordered[at-1] != nil {
			return nil, fmt.Errorf("shard %s is given twice (%s and %s); name each shard once", s.Run.Shard, ordered[at-1].Run.ID, s.Run.ID)
		}
		if err := sameRun(shards[0], s); err != nil {
			return nil, fmt.Errorf("shard %s does not belong to shard %s: %w", s.Run.Shard, shards[0].Run.Shard, err)
		}
		ordered[at-1] = s
	}
	var missing []string
	for i, s := range ordered {
		if s == nil {
			missing = append(missing, fmt.Sprintf("%d/%d", i+1, len(ordered)))
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("shard %s is missing: name the result.json of every shard", strings.Join(missing, ", "))
	}
	return ordered, nil
}

// maxShards bounds what a file can claim.
const maxShards = 1000

func shardOf(r *reports.Result) (at, of int, err error) {
	if r.Run.Shard == "" {
		return 0, 0, errors.New("not a shard: the run had no --shard; merge only results of runs with --shard")
	}
	left, right, _ := strings.Cut(r.Run.Shard, "/")
	at, err1 := strconv.Atoi(left)
	of, err2 := strconv.Atoi(right)
	if err1 != nil || err2 != nil || at < 1 || of < at || of > maxShards {
		return 0, 0, fmt.Errorf("shard is %q, expected the form I/N", r.Run.Shard)
	}
	return at, of, nil
}

func sameRun(a, b *reports.Result) error {
	for _, pair := range []struct {
		what         string
		first, other any
	}{
		{"the version of the suite", a.Suite.Version, b.Suite.Version},
		{"the digest of the requirements", a.Suite.Digest, b.Suite.Digest},
		{"the verification of certificates", insecure(a), insecure(b)},
		{"the version of the interface", a.Suite.Interface, b.Suite.Interface},
		{"the number of requirements", a.Suite.Requirements, b.Suite.Requirements},
		{"the control plane", a.Target.ControlPlane, b.Target.ControlPlane},
		{"the agent server", agentWithoutPlane(a), agentWithoutPlane(b)},
		{"the implementation", a.Target.Implementation.Name + " " + a.Target.Implementation.Version, b.Target.Implementation.Name + " " + b.Target.Implementation.Version},
		{"supports", strings.Join(a.Target.Supports, ", "), strings.Join(b.Target.Supports, ", ")},
		{"strictness", a.Run.Strict, b.Run.Strict},
		{"--fail-on", a.Run.FailOn, b.Run.FailOn},
	} {
		if pair.first != pair.other {
			return fmt.Errorf("%s differs (%v and %v); run all shards with the same program, target and flags", pair.what, pair.first, pair.other)
		}
	}
	return nil
}

// insecure tells whether the certificate of the target was not verified.
func insecure(r *reports.Result) bool {
	return r.Target.Connection != nil && r.Target.Connection.Insecure
}

// agentWithoutPlane is the address of an agent server that was judged without a control plane. One that a control plane
// deployed for a shard has another address in each shard.
func agentWithoutPlane(r *reports.Result) string {
	if r.Target.ControlPlane != "" {
		return ""
	}
	return r.Target.AgentServer
}

// sameOrder tells whether every shard lists the whole catalogue: then its order is that of the merged result.
func sameOrder(shards []*reports.Result) bool {
	ids := func(r *reports.Result) []string {
		var all []string
		for _, q := range r.Requirements {
			all = append(all, q.ID)
		}
		return all
	}
	first := ids(shards[0])
	return !slices.ContainsFunc(shards, func(s *reports.Result) bool { return !slices.Equal(ids(s), first) })
}

// finish orders the merged requirements, and draws the conclusion.
func finish(m *reports.Result, shards []*reports.Result) {
	if !sameOrder(shards) {
		slices.SortStableFunc(m.Requirements, byPlace)
	}
	rank := map[string]int{}
	m.Target.Rejecting = rejectedEverywhere(shards)
	for i := range m.Requirements {
		settle(&m.Requirements[i], rejection(m, m.Requirements[i].Profile))
		rank[m.Requirements[i].ID] = i
	}
	leaveToOthers(m, shards)
	slices.SortStableFunc(m.Findings, func(a, b reports.Finding) int { return rank[a.Requirement] - rank[b.Requirement] })
	slices.SortStableFunc(m.Timeline, func(a, b reports.Transition) int { return int(a.AtMS - b.AtMS) })
	m.Counts.Cases += scenariosIn(m)
	reports.Tally(m)
	setScope(m, shards)
	reports.MergeWords(m, shards)
	m.Verdict, m.Headline = reports.ConcludeRun(m), headline(shards)
	if m.Unseen = unseen(shards); len(m.Unseen) > 0 && m.Verdict == reports.Conformant {
		m.Verdict = reports.Incomplete
		m.Headline = cmp.Or(m.Headline, "no successful answer of the "+strings.ReplaceAll(m.Unseen[0], "-", " ")+" was seen")
	}
	for _, s := range shards {
		if len(s.Unseen) > 0 && s.Run.Stopped == "" {
			continue // another shard may have seen it
		}
		// A shard with a worse verdict than its requirements give was interrupted: then the merged run is incomplete too.
		if s.Verdict == reports.Incomplete && len(reports.BrokenClaims(s)) == 0 && reports.Conclude(s.Requirements, s.Run.Strict) != reports.Incomplete && m.Verdict == reports.Conformant {
			m.Verdict, m.Headline = reports.Incomplete, "Shard "+s.Run.Shard+" is incomplete: "+s.Headline
		}
	}
}

// headline is what every shard says of the target as a whole; where they say it in other words, what the first one says.
func headline(shards []*reports.Result) string {
	first := shards[0]
	same := true
	for _, s := range shards {
		if s.Headline == "" || s.Verdict != first.Verdict {
			return ""
		}
		same = same && s.Headline == first.Headline
	}
	if same {
		return first.Headline
	}
	return "shard " + first.Run.Shard + ": " + first.Headline
}

// rejectedEverywhere lists the halves that refused every request with the configured credentials, in every shard.
func rejectedEverywhere(shards []*reports.Result) (halves []string) {
	for _, half := range shards[0].Target.Rejecting {
		if !slices.ContainsFunc(shards, func(s *reports.Result) bool { return !slices.Contains(s.Target.Rejecting, half) }) {
			halves = append(halves, half)
		}
	}
	return halves
}

// rejection is a requirement of a half that rejected credentials have blocked; nil where the half accepted any.
func rejection(m *reports.Result, half string) *reports.Requirement {
	if !slices.Contains(m.Target.Rejecting, half) {
		return nil
	}
	at := slices.IndexFunc(m.Requirements, func(q reports.Requirement) bool {
		return q.Profile == half && q.Verdict == reports.Blocked && slices.ContainsFunc(q.BlockedBy, func(b reports.Blocker) bool { return b.Kind == reports.ByKey })
	})
	if at < 0 {
		return nil
	}
	return &m.Requirements[at]
}

func scenariosIn(r *reports.Result) (n int) {
	for _, q := range r.Requirements {
		n += len(q.Scenarios)
	}
	return n
}

// setScope says what no shard has judged. A requirement that another shard has run is not left out. A shard of an older
// version has no scope; then the merged result has none either, and readers count.
func setScope(m *reports.Result, shards []*reports.Result) {
	if slices.ContainsFunc(shards, func(s *reports.Result) bool { return s.Scope == "" }) {
		return
	}
	absent := slices.DeleteFunc(slices.Clone(shards[0].NotJudged), func(n reports.NotJudged) bool {
		return n.Kind != reports.NotSelected ||
			slices.ContainsFunc(m.Requirements, func(q reports.Requirement) bool { return q.ID == n.ID })
	})
	reports.SetScope(m, absent)
}

// unseen lists the halves with a passed requirement of which no shard saw a successful answer.
func unseen(shards []*reports.Result) (halves []string) {
	for _, half := range []string{"control-plane", "agent-server"} {
		judged, seen := false, false
		for _, s := range shards {
			if slices.ContainsFunc(s.Requirements, func(q reports.Requirement) bool { return q.Profile == half && q.Verdict == reports.Passed }) {
				judged, seen = true, seen || !slices.Contains(s.Unseen, half)
			}
		}
		if judged && !seen {
			halves = append(halves, half)
		}
	}
	return halves
}
