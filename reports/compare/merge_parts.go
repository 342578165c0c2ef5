package compare

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
)

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// addRequirements adds the requirements of a shard. A scenario that occurs in several shards, as the contract's do,
// takes its worst verdict and all of its evidence.
func addRequirements(m, shard *reports.Result, offset int) {
	for _, q := range shard.Requirements {
		q.Known = nil
		scenarios := slices.Clone(q.Scenarios)
		for i := range scenarios {
			scenarios[i].Exchanges = shifted(scenarios[i].Exchanges, offset)
		}
		at := slices.IndexFunc(m.Requirements, func(o reports.Requirement) bool { return o.ID == q.ID })
		if at < 0 {
			q.Scenarios = scenarios
			m.Requirements = append(m.Requirements, q)
			continue
		}
		into := &m.Requirements[at]
		for _, s := range scenarios {
			mergeScenario(into, s)
		}
		if len(into.Scenarios) == 0 && reports.Worse(into.Verdict, q.Verdict) != into.Verdict {
			into.Verdict, into.Reason, into.Skip, into.BlockedBy = q.Verdict, q.Reason, q.Skip, q.BlockedBy
		}
	}
}

func mergeScenario(into *reports.Requirement, s reports.Scenario) {
	at := slices.IndexFunc(into.Scenarios, func(o reports.Scenario) bool { return o.URI == s.URI && o.Line == s.Line && o.Name == s.Name })
	if at < 0 {
		into.Scenarios = append(into.Scenarios, s)
		return
	}
	o := &into.Scenarios[at]
	evidence, duration := slices.Concat(o.Exchanges, s.Exchanges), o.DurationMS+s.DurationMS
	if reports.Worse(o.Verdict, s.Verdict) != o.Verdict {
		*o = s
	}
	o.Exchanges, o.DurationMS = evidence, duration
}

// settle sorts the scenarios of a requirement, and gives it the verdict of the worst of them, with its reason and cause. The
// rejected one is a requirement that rejected credentials have blocked; nil where they were accepted.
func settle(q, rejected *reports.Requirement) {
	if len(q.Scenarios) == 0 {
		return
	}
	slices.SortStableFunc(q.Scenarios, func(a, b reports.Scenario) int {
		return cmp.Or(cmp.Compare(a.URI, b.URI), cmp.Compare(a.Line, b.Line))
	})
	for i := range q.Scenarios {
		seenByNoShard(&q.Scenarios[i], rejected)
	}
	worst := q.Scenarios[0]
	for _, s := range q.Scenarios[1:] {
		if reports.Worse(worst.Verdict, s.Verdict) != worst.Verdict {
			worst = s
		}
	}
	q.Verdict, q.Reason, q.Skip, q.BlockedBy = worst.Verdict, worst.Reason, worst.Skip, worst.BlockedBy
}

// seenByNoShard makes a scenario inconclusive that every shard left to the others, as a run without shards does; or blocked,
// where rejected credentials kept all from it.
func seenByNoShard(s *reports.Scenario, rejected *reports.Requirement) {
	if s.Skip == nil || s.Skip.Kind != reports.NotSelected || s.Skip.Key != "shard" {
		return
	}
	s.Verdict, s.Skip = reports.Inconclusive, nil
	s.Reason = strings.TrimSuffix(s.Reason, " (in this shard)")
	if rejected != nil {
		s.Verdict, s.Reason, s.BlockedBy = reports.Blocked, rejected.Reason, slices.Clone(rejected.BlockedBy)
	}
}

// byPlace orders requirements as the features do: by profile, file and line.
func byPlace(a, b reports.Requirement) int {
	profiles := []string{"control-plane", "agent-server", "end-to-end"}
	uriA, lineA := place(a)
	uriB, lineB := place(b)
	return cmp.Or(
		cmp.Compare(slices.Index(profiles, a.Profile), slices.Index(profiles, b.Profile)),
		cmp.Compare(uriA, uriB), cmp.Compare(lineA, lineB))
}

func place(q reports.Requirement) (string, int) {
	if len(q.Scenarios) == 0 {
		return "", 0
	}
	line := q.Scenarios[0].Line
	for _, s := range q.Scenarios {
		line = min(line, s.Line)
	}
	return q.Scenarios[0].URI, line
}

// addFindings adds the findings of a shard; the same finding counts once, with all of its occurrences.
func addFindings(m, shard *reports.Result, offset int) {
	for _, f := range shard.Findings {
		f.Known = nil
		if f.Exchange > 0 {
			f.Exchange += offset
		}
		f.Exchanges = slices.Clone(f.Exchanges)
		for i := range f.Exchanges {
			f.Exchanges[i].Exchange += offset
		}
		if offset > 0 {
			f.Compared = "" // it names exchanges by their numbers in the shard
		}
		mergeInto(&m.Findings, []reports.Finding{f}, func(a, b reports.Finding) bool { return a.ID == b.ID && a.Requirement == b.Requirement },
			func(x *reports.Finding, f reports.Finding) { x.Count += f.Count })
	}
}

// addNotes adds the notes of a shard; the same note counts once, with all of its occurrences.
func addNotes(m, shard *reports.Result, offset int) {
	for _, n := range shard.Notes {
		if n.Exchange > 0 {
			n.Exchange += offset
		}
		mergeInto(&m.Notes, []reports.Note{n}, func(a, b reports.Note) bool { return a.Kind == b.Kind && a.Text == b.Text },
			func(x *reports.Note, n reports.Note) { x.Count += n.Count })
	}
}

// mergeInto adds items to a list. An item that the list has already is merged into it.
func mergeInto[T any](list *[]T, items []T, same func(a, b T) bool, merge func(into *T, item T)) {
	for _, item := range items {
		if at := slices.IndexFunc(*list, func(x T) bool { return same(x, item) }); at >= 0 {
			merge(&(*list)[at], item)
		} else {
			*list = append(*list, item)
		}
	}
}

func addCoverage(into *reports.Coverage, c reports.Coverage) {
	mergeInto(&into.Operations, c.Operations, func(a, b reports.OperationCoverage) bool { return a.Operation == b.Operation },
		func(x *reports.OperationCoverage, o reports.OperationCoverage) { x.Exchanges += o.Exchanges })
	mergeInto(&into.Statuses, c.Statuses, func(a, b reports.StatusCoverage) bool {
		return a.Operation == b.Operation && a.Status == b.Status && a.ContentType == b.ContentType
	}, func(x *reports.StatusCoverage, s reports.StatusCoverage) { x.Count += s.Count })
	mergeInto(&into.Parameters, c.Parameters, func(a, b reports.ParameterCoverage) bool {
		return a.Operation == b.Operation && a.Parameter == b.Parameter
	}, func(x *reports.ParameterCoverage, p reports.ParameterCoverage) { x.Values = union(x.Values, p.Values) })
	mergeInto(&into.Enums, c.Enums, func(a, b reports.EnumCoverage) bool { return a.Field == b.Field },
		func(x *reports.EnumCoverage, e reports.EnumCoverage) {
			x.Seen = union(x.Seen, e.Seen)
			x.Unseen = slices.DeleteFunc(union(x.Unseen, e.Unseen), func(v string) bool { return slices.Contains(x.Seen, v) })
		})
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, v := range b {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

func shifted(ids []int, offset int) []int {
	all := make([]int, len(ids))
	for i, id := range ids {
		all[i] = id + offset
	}
	return all
}

// joined shows the exchanges of several results as those of one, without copying them.
type joined struct{ parts []joinedPart }

type joinedPart struct {
	from   reports.Exchanges
	offset int
	shift  int64 // of the time
}

// add appends the exchanges of a shard and returns by how much their ids grow.
func (j *joined) add(from reports.Exchanges, shift int64) int {
	offset := j.Len()
	if from != nil {
		j.parts = append(j.parts, joinedPart{from, offset, shift})
	}
	return offset
}

// Len returns the number of exchanges.
func (j *joined) Len() int {
	if len(j.parts) == 0 {
		return 0
	}
	last := j.parts[len(j.parts)-1]
	return last.offset + last.from.Len()
}

// Get returns the exchange with this id.
func (j *joined) Get(id int) (reports.Exchange, error) {
	for _, p := range slices.Backward(j.parts) {
		if id > p.offset && id <= j.Len() {
			x, err := p.from.Get(id - p.offset)
			return p.moved(x), err
		}
	}
	return reports.Exchange{}, fmt.Errorf("no exchange %d: ids are 1 to %d", id, j.Len())
}

// All gives the exchanges in order of id.
func (j *joined) All() iter.Seq2[reports.Exchange, error] {
	return func(yield func(reports.Exchange, error) bool) {
		for _, p := range j.parts {
			for x, err := range p.from.All() {
				if !yield(p.moved(x), err) || err != nil {
					return
				}
			}
		}
	}
}

func (p joinedPart) moved(x reports.Exchange) reports.Exchange {
	x.ID += p.offset
	x.AtMS += p.shift
	return x
}
