package compare

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// leaveToOthers settles requirements that other ones tell as well, as a run of all does: where one of these has failed, in whatever
// shard, it is left to that one; where no shard had anything to judge, what blocks such a requirement blocks it.
func leaveToOthers(m *reports.Result, shards []*reports.Result) {
	for i := range m.Requirements {
		q := &m.Requirements[i]
		if len(q.ToldBy) == 0 {
			continue
		}
		failed, blocked := tellers(m, q)
		switch {
		case q.Verdict == reports.Inconclusive && unevidenced(shards, q.ID) && len(failed) > 0:
			settleAll(q, reports.Blocked, q.Reason+": "+strings.Join(failed, ", ")+" failed", nil, byRequirements(failed))
		case q.Verdict == reports.Inconclusive && unevidenced(shards, q.ID) && blocked != nil:
			settleAll(q, reports.Blocked, blocked.Reason, nil, slices.Clone(blocked.BlockedBy))
		case len(failed) > 0 && (q.Verdict == reports.Failed || leftInAShard(shards, q.ID)):
			settleAll(q, reports.Skipped, "left to "+strings.Join(failed, ", ")+", which failed", &reports.Skip{Kind: reports.NotApplicable, Key: failed[0]}, nil)
			m.Findings = slices.DeleteFunc(m.Findings, func(f reports.Finding) bool { return f.Requirement == q.ID })
		}
	}
}

// tellers are the requirements that tell the same and have failed, and the first that is blocked. A SHOULD that has failed says enough for a SHOULD only.
func tellers(m *reports.Result, q *reports.Requirement) (failed []string, blocked *reports.Requirement) {
	for i := range m.Requirements {
		o := &m.Requirements[i]
		switch {
		case !q.Tells(o.ID):
		case o.Verdict == reports.Failed && (o.Level == reports.Must || q.Level != reports.Must):
			failed = append(failed, o.ID)
		case o.Verdict == reports.Blocked && blocked == nil:
			blocked = o
		}
	}
	slices.Sort(failed)
	return failed, blocked
}

func settleAll(q *reports.Requirement, verdict reports.Verdict, reason string, skip *reports.Skip, by []reports.Blocker) {
	q.Verdict, q.Reason, q.Skip, q.BlockedBy = verdict, reason, skip, by
	for i := range q.Scenarios {
		s := &q.Scenarios[i]
		s.Verdict, s.Reason, s.Skip, s.BlockedBy = verdict, reason, skip, by
	}
}

func byRequirements(ids []string) (all []reports.Blocker) {
	for _, id := range ids {
		all = append(all, reports.Blocker{Kind: reports.ByRequirement, Name: id})
	}
	return all
}

// unevidenced tells whether each shard that had the requirement left it to the others.
func unevidenced(shards []*reports.Result, id string) bool {
	return !inAShard(shards, id, func(q reports.Requirement) bool {
		return q.Skip == nil || q.Skip.Kind != reports.NotSelected || q.Skip.Key != "shard"
	})
}

// leftInAShard tells whether a shard has left the requirement to one that failed in it.
func leftInAShard(shards []*reports.Result, id string) bool {
	return inAShard(shards, id, func(q reports.Requirement) bool {
		return q.Skip != nil && q.Skip.Kind == reports.NotApplicable && q.Tells(q.Skip.Key)
	})
}

func inAShard(shards []*reports.Result, id string, is func(reports.Requirement) bool) bool {
	return slices.ContainsFunc(shards, func(s *reports.Result) bool {
		return slices.ContainsFunc(s.Requirements, func(q reports.Requirement) bool { return q.ID == id && is(q) })
	})
}
