// Package recorded gives the tests of the reports a result that a run has really produced: the bundled reference with a few
// faults, judged by a selection of requirements. Ids, addresses and times are normalised. All other results are made from it,
// but for one made by hand, which the golden files show.
//
// TestRecordedRun in cmd/agentconform records the run (with -update) and fails when runs have changed since.
package recorded

import (
	_ "embed" // the run is part of the package
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/reports"
)

//go:embed run.json
var run []byte

// JSON is the recorded result file.
func JSON() []byte { return append([]byte(nil), run...) }

// Faulty is the recorded run: failed MUSTs, a warning, blocked and inconclusive requirements, skips. Each call gives a
// copy of its own, with its exchanges in memory.
func Faulty() *reports.Result {
	var doc struct {
		reports.Result
		Recorded []reports.Exchange `json:"exchanges"`
	}
	must(json.Unmarshal(run, &doc))
	r := doc.Result
	r.Exchanges = reports.NewMemory(doc.Recorded...)
	return &r
}

// Conformant is the run as it would be without faults, by a suite that holds no other requirements: everything that was
// judged has passed, and the MUSTs that were not do not apply.
func Conformant() *reports.Result {
	r := Faulty()
	r.Run.ID, r.Findings = "5eed0001", nil
	r.Suite.Requirements = len(r.Requirements)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		if q.Verdict == reports.Skipped {
			if q.Level == reports.Must {
				Skip(q, reports.Skip{Kind: reports.NotApplicable, Key: "image_uri"}, q.Reason)
			}
			continue
		}
		Pass(q)
	}
	r.Verdict = reports.Conformant
	reports.Tally(r)
	reports.SetScope(r, nil)
	return r
}

// Unreachable is the run against an address at which nothing answers.
func Unreachable() *reports.Result {
	r := Faulty()
	for i := range r.Requirements {
		q := &r.Requirements[i]
		Block(q, reports.Blocker{Kind: reports.ByTarget, Name: r.Target.ControlPlane}, r.Target.ControlPlane+" does not answer: connection refused")
		for j := range q.Scenarios {
			q.Scenarios[j].Exchanges = nil
		}
	}
	r.Run.ID, r.Verdict, r.Findings = "5eed0002", reports.Incomplete, nil
	r.Target.AgentServer = ""
	r.Exchanges, r.Timeline, r.Ledger, r.Coverage = reports.NewMemory(), nil, nil, reports.Coverage{}
	reports.Tally(r)
	reports.SetScope(r, slices.DeleteFunc(slices.Clone(r.NotJudged), func(n reports.NotJudged) bool { return n.Kind != reports.NotSelected }))
	return r
}

// Large is the faulty run with n exchanges: those that it has, again and again.
func Large(n int) *reports.Result {
	r := Faulty()
	var all []reports.Exchange
	for x := range r.Exchanges.All() {
		all = append(all, x)
	}
	memory := reports.NewMemory(all...)
	q := &r.Requirements[0]
	for i := memory.Len(); i < n; i++ {
		x := all[i%len(all)]
		x.AtMS = int64(i * 3)
		q.Scenarios[0].Exchanges = append(q.Scenarios[0].Exchanges, memory.Append(x))
	}
	r.Exchanges = memory
	reports.Tally(r)
	return r
}

// Requirement finds a requirement of r. It panics where there is none: the recorded run has changed.
func Requirement(r *reports.Result, id string) *reports.Requirement {
	for i := range r.Requirements {
		if r.Requirements[i].ID == id {
			return &r.Requirements[i]
		}
	}
	panic(fmt.Sprintf("the recorded run has no requirement %s", id))
}

// Finding finds the first finding of a requirement. It panics where there is none.
func Finding(r *reports.Result, id string) *reports.Finding {
	for i := range r.Findings {
		if r.Findings[i].Requirement == id {
			return &r.Findings[i]
		}
	}
	panic(fmt.Sprintf("the recorded run has no finding of %s", id))
}

// Pass lets a requirement and all of its scenarios pass.
func Pass(q *reports.Requirement) { settle(q, reports.Passed, "", nil, nil) }

// Skip skips a requirement and all of its scenarios.
func Skip(q *reports.Requirement, skip reports.Skip, reason string) {
	settle(q, reports.Skipped, reason, &skip, nil)
}

// Block blocks a requirement and all of its scenarios.
func Block(q *reports.Requirement, by reports.Blocker, reason string) {
	settle(q, reports.Blocked, reason, nil, []reports.Blocker{by})
}

func settle(q *reports.Requirement, v reports.Verdict, reason string, skip *reports.Skip, by []reports.Blocker) {
	q.Verdict, q.Reason, q.Skip, q.BlockedBy = v, reason, skip, by
	for i := range q.Scenarios {
		s := &q.Scenarios[i]
		s.Verdict, s.Reason, s.Skip, s.BlockedBy = v, reason, skip, by
		for j := range s.Steps {
			s.Steps[j].Verdict = ""
			if v == reports.Passed {
				s.Steps[j].Verdict = v
			}
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
