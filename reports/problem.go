package reports

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports/safe"
)

// Problem is a root cause: one or more findings of a requirement that no other failure explains, with all failures that
// it explains. A requirement has several problems if its findings have different causes. All readable reports show
// problems in the order of their numbers.
type Problem struct {
	Number      int      `json:"number"` // counts from 1
	Title       string   `json:"title"`  // what the server does: "limit=101 is accepted"
	Level       Level    `json:"level"`
	Requirement string   `json:"requirement"`        // ID of the requirement that owns the behavior
	Findings    []string `json:"findings,omitempty"` // IDs of its findings: first those of the requirement, then those of Breaks
	Breaks      []string `json:"breaks,omitempty"`   // IDs of the requirements whose failure it explains
	Known       bool     `json:"known,omitempty"`    // the baseline covers the failure
}

// maxTitle is the maximum length of the title of a problem, in characters.
const maxTitle = 200

// SetProblems sets the problems of r, in this order: leaks between users or tenants, then by level, then as in the
// features. Known failures are last.
func SetProblems(r *Result) {
	broken := map[string][]string{} // IDs of the failures that each cause explains
	found := map[string][]*Finding{}
	for f := range Each(r.Findings) {
		found[f.Requirement] = append(found[f.Requirement], f)
	}
	var roots []*Requirement
	for q := range Each(r.Requirements) {
		if q.Verdict != Failed {
			continue
		}
		for _, cause := range Causes(r, q) {
			if cause == q {
				roots = append(roots, q)
			} else {
				broken[cause.ID] = append(broken[cause.ID], q.ID)
			}
		}
	}
	r.Problems = nil
	for _, q := range roots {
		groups := byCause(r, found[q.ID])
		if len(groups) == 0 {
			groups = [][]*Finding{nil} // a failure without evidence is a problem, too
		}
		breaks := make([][]string, len(groups))
		for _, id := range broken[q.ID] {
			at := slices.IndexFunc(groups, func(group []*Finding) bool { return shareCause(r, group, found[id]) })
			breaks[max(at, 0)] = append(breaks[max(at, 0)], id)
		}
		for i, group := range groups {
			r.Problems = append(r.Problems, newProblem(q, group, breaks[i], found))
		}
	}
	slices.SortStableFunc(r.Problems, func(a, b Problem) int { return cmp.Compare(rank(r, a), rank(r, b)) })
	for i := range r.Problems {
		r.Problems[i].Number = i + 1
	}
}

// rank returns a low number for an important problem.
func rank(r *Result, p Problem) int {
	q := r.Requirement(p.Requirement)
	switch {
	case p.Known:
		return len(Levels) + 1
	case q.Subject == "isolation":
		return 0
	case q.Binding:
		return 1
	}
	return 1 + slices.Index(Levels, q.Level)
}

// newProblem returns the problem for findings of q with the same cause. found has all findings by requirement.
func newProblem(q *Requirement, findings []*Finding, breaks []string, found map[string][]*Finding) Problem {
	isNew := func(f *Finding) bool { return f.Known == nil }
	p := Problem{Title: q.Title, Level: q.Level, Requirement: q.ID, Breaks: breaks}
	p.Known = q.Known != nil || len(findings) > 0 && !slices.ContainsFunc(findings, isNew)
	for _, id := range breaks {
		findings = append(slices.Clip(findings), found[id]...)
	}
	for _, f := range findings {
		p.Findings = append(p.Findings, f.ID)
	}
	if len(findings) > 0 {
		p.Title = safe.Ellipsis(findings[0].Summary, maxTitle)
	}
	return p
}

// byCause divides the findings of a requirement by their causes, in their order.
func byCause(r *Result, findings []*Finding) (groups [][]*Finding) {
	for _, f := range findings {
		var others [][]*Finding
		var group []*Finding
		at := len(groups)
		for i, other := range groups {
			if shareCause(r, other, []*Finding{f}) {
				group = append(group, other...)
				at = min(at, i)
			} else {
				others = append(others, other)
			}
		}
		groups = slices.Insert(others, min(at, len(others)), append(group, f))
	}
	return groups
}

// shareCause reports whether some finding of one list may have the same cause as some finding of the other.
func shareCause(r *Result, some, others []*Finding) bool {
	return slices.ContainsFunc(some, func(a *Finding) bool {
		return slices.ContainsFunc(others, func(b *Finding) bool {
			return isAlike(a, b) || a.Exchange != 0 && a.Exchange == b.Exchange || ledTo(r, a, b) || ledTo(r, b, a)
		})
	})
}

// index matches the indices of a JSON pointer.
var index = regexp.MustCompile(`/[0-9]+\b`)

// valueOf returns the pointer of a finding without indices. It is the same for a field of a revision and for the field of
// a revision in a list.
func valueOf(f *Finding) string {
	return strings.TrimPrefix(index.ReplaceAllString(f.Pointer, "/*"), "/resources/*")
}

// isAlike reports whether two findings differ in at most one of the operation, the kind, the class of the input, and the
// value in the body. One fault often shows in several operations, or with several inputs. Not all findings have a class
// and a value. Results of earlier versions have no kinds. Leaks by several operations have different values. If one
// operation accepts an input of a class, another may refuse it for an unrelated reason.
func isAlike(a, b *Finding) bool {
	kinds := []string{a.Kind, b.Kind}
	isAccepted := a.Class != "" && a.Class == b.Class && slices.Contains(kinds, "accepted") && slices.Contains(kinds, "wrong-status")
	if isAccepted || a.Kind == "leak" && b.Kind == "leak" {
		return true
	}
	differences := 0
	value, other := valueOf(a), valueOf(b)
	for _, differ := range []bool{a.Operation != b.Operation, a.Kind != b.Kind,
		a.Class != "" && b.Class != "" && a.Class != b.Class,
		value != "" && other != "" && value != other} {
		if differ {
			differences++
		}
	}
	return differences < 2 || a.Kind == "" || b.Kind == ""
}

// ledTo reports whether the request that shows f is among the exchanges of the other finding, or whether the act of that
// finding has a request of the same operation. Reads never lead to a finding.
func ledTo(r *Result, f, other *Finding) bool {
	x, err := r.Exchange(f.Exchange)
	if err != nil || x.Method == "GET" && x.Operation != "join-run" {
		return false
	}
	return slices.ContainsFunc(other.Exchanges, func(l Link) bool {
		earlier, err := r.Exchange(l.Exchange)
		isSame := l.Part == Act && f.Operation != other.Operation && earlier.Operation == f.Operation
		return err == nil && (earlier.ID == x.ID || isSame)
	})
}
