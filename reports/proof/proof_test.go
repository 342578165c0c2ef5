package proof_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/proof"
)

func TestJudge(t *testing.T) {
	fault := func(change func(*proof.Row)) proof.Row {
		r := proof.Row{Kind: proof.Fault, Fails: "CP-A-1", Red: []string{"CP-A-1"}, Changed: 1, Verdict: reports.NonConformant}
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		row  proof.Row
		want string
	}{
		"survived":       {fault(func(r *proof.Row) { r.Red = nil }), "mutant survived CP-A-1; failed: none"},
		"only blocked":   {fault(func(r *proof.Row) { r.Red, r.Open = nil, []string{"CP-A-1"} }), "mutant survived CP-A-1: blocked or inconclusive"},
		"another failed": {fault(func(r *proof.Row) { r.Red = append(r.Red, "CP-B-1") }), "CP-B-1 also failed, which the fault does not declare; failed: CP-A-1, CP-B-1"},
		"explained by a declared failure": {fault(func(r *proof.Row) {
			r.Red, r.Also = []string{"CP-B-1"}, map[string]string{"CP-B-1": "why"}
			r.Explained = map[string][]string{"CP-A-1": {"CP-B-1"}}
		}), ""},
		"explained by an undeclared failure": {fault(func(r *proof.Row) {
			r.Red, r.Explained = []string{"CP-B-1"}, map[string][]string{"CP-A-1": {"CP-B-1"}}
		}), "mutant survived CP-A-1; failed: CP-B-1"},
		"a situation, explained by the record": {proof.Row{Kind: proof.Situation, Fails: "CP-A-1", Changed: 1, Red: []string{"CP-B-1"},
			Explained: map[string][]string{"CP-A-1": {"CP-B-1"}}}, ""},
		"declared, not failed":         {fault(func(r *proof.Row) { r.Also = map[string]string{"CP-B-1": "why"} }), "CP-B-1 did not fail, but"},
		"a MUST and conformant":        {fault(func(r *proof.Row) { r.Verdict = reports.Conformant }), "verdict is conformant, expected non-conformant"},
		"false positive":               {proof.Row{Kind: proof.Equivalent, Verdict: reports.Conformant, Red: []string{"CP-A-1"}}, "false positive: CP-A-1 failed"},
		"incomplete equivalent mutant": {proof.Row{Kind: proof.Equivalent, Verdict: reports.Incomplete, Open: []string{"CP-A-1"}}, "verdict is incomplete, expected conformant; blocked or inconclusive: CP-A-1"},
		"accepted null implementation": {proof.Row{Kind: proof.Null, Verdict: reports.Conformant}, "reported conformant"},
		"failed reference":             {proof.Row{Kind: proof.Pristine, Verdict: reports.NonConformant, Red: []string{"CP-A-1"}}, "false positive: CP-A-1 failed"},
		"generated, equivalent":        {proof.Row{Kind: proof.GeneratedMutant, Changed: 1, Allowed: "why"}, ""},
		"generated, not reached":       {proof.Row{Kind: proof.GeneratedMutant}, ""},
		"generated, survived":          {proof.Row{Kind: proof.GeneratedMutant, Changed: 2, Open: []string{"CP-A-1"}}, "survived 2 exchanges that it changed; blocked or inconclusive: CP-A-1"},
		"generated, allowed, killed":   {proof.Row{Kind: proof.GeneratedMutant, Changed: 1, Allowed: "why", Red: []string{"CP-A-1"}}, "allowed (why), but CP-A-1 failed"},
		"generated, killed by nothing": {proof.Row{Kind: proof.GeneratedMutant, Red: []string{"CP-A-1"}}, "it changed no exchange, but CP-A-1 failed"},
		"killed, but nothing changed":  {fault(func(r *proof.Row) { r.Changed = 0 }), "it changed no exchange, but CP-A-1 failed"},
		"proxied, another failed":      {proof.Row{Kind: proof.Proxied, Fails: "CP-A-1", Changed: 1, Red: []string{"CP-B-1"}}, "survived 1 exchange"},
		"proxied, not reached":         {proof.Row{Kind: proof.Proxied, Fails: "CP-A-1"}, ""},
		"control, survived":            {proof.Row{Kind: proof.GeneratedMutant, Changed: 1, Control: true}, "this self-test is void"},
		"control, not reached":         {proof.Row{Kind: proof.GeneratedMutant, Control: true}, "this self-test is void"},
	} {
		t.Run(name, func(t *testing.T) {
			problem := c.row.Judge(reports.Must, false)
			if c.want == "" {
				assert.Empty(t, problem)
			} else {
				assert.Contains(t, problem, c.want)
			}
		})
	}
}

func sample() *proof.Proof {
	p := &proof.Proof{
		Whole:        true,
		Requirements: []proof.Requirement{{ID: "CP-A-1", Level: reports.Must, Title: "A <b>"}, {ID: "CP-B-1", Level: reports.Should, Title: "B"}},
		Rows: []proof.Row{
			{Kind: proof.Fault, Name: "one", Does: "<script>alert(1)</script>", Fails: "CP-A-1", Red: []string{"CP-A-1"}, Changed: 1, Verdict: reports.NonConformant, Shown: "a | b"},
			{Kind: proof.Fault, Name: "two", Fails: "CP-A-1", Red: []string{}, Changed: 1, Verdict: reports.Conformant},
			{Kind: proof.Equivalent, Name: "three", Verdict: reports.Conformant},
			{Kind: proof.Null, Name: "four", Verdict: reports.NonConformant},
		},
	}
	p.Conclude()
	return p
}

func TestUndecided(t *testing.T) {
	for name, c := range map[string]struct {
		row  proof.Row
		want bool
	}{
		"fault that could not be judged":        {proof.Row{Kind: proof.Fault, Fails: "A", Open: []string{"A"}}, true},
		"fault, and what it declares failed":    {proof.Row{Kind: proof.Fault, Fails: "A", Open: []string{"A"}, Red: []string{"B"}, Also: map[string]string{"B": "why"}}, true},
		"fault, and another requirement failed": {proof.Row{Kind: proof.Fault, Fails: "A", Open: []string{"A"}, Red: []string{"B"}}, false},
		"proxied fault that was not judged":     {proof.Row{Kind: proof.Proxied, Fails: "A", Open: []string{"A"}, Red: []string{"B"}, Verdict: reports.NonConformant}, true},
		"fault that was judged and survived":    {proof.Row{Kind: proof.Fault, Fails: "A", Open: []string{"B"}}, false},
		"incomplete equivalent mutant":          {proof.Row{Kind: proof.Equivalent, Verdict: reports.Incomplete}, true},
		"false positive":                        {proof.Row{Kind: proof.Equivalent, Verdict: reports.NonConformant, Red: []string{"A"}}, false},
		"incomplete reference":                  {proof.Row{Kind: proof.Pristine, Verdict: reports.Incomplete}, true},
		"null implementation":                   {proof.Row{Kind: proof.Null, Verdict: reports.Incomplete}, false},
	} {
		assert.Equal(t, c.want, c.row.Undecided(), name)
	}
}

func TestTexts(t *testing.T) {
	p := sample()
	var console, text strings.Builder
	require.NoError(t, proof.Console(&console, p))
	require.NoError(t, proof.Markdown(&text, p))
	assert.Equal(t, len(p.Problems), strings.Count(console.String(), "PROBLEM"))
	assert.Contains(t, console.String(), "mutation score 1/2")
	assert.Contains(t, text.String(), console.String())
	assert.NotContains(t, text.String(), "<script>")

	p.Rows = append(p.Rows[:2], proof.Row{Kind: proof.Proxied, Fails: "CP-A-1"},
		proof.Row{Kind: proof.GeneratedMutant, Changed: 1, Red: []string{"CP-A-1"}}, proof.Row{Kind: proof.GeneratedMutant, Changed: 1, Allowed: "why"})
	assert.Contains(t, p.Sentence(), "mutation score 2/3")
}

// TestWholeProof checks that a whole self-test needs two faults of a MUST and, except in the gate, a fault for each @after
// tag.
func TestWholeProof(t *testing.T) {
	p := sample()
	p.Rows, p.Requirements = p.Rows[:1], p.Requirements[:1]
	p.Requirements[0].After = []string{"CP-A-1"}
	p.Conclude()
	assert.Equal(t, []string{"@after:CP-A-1 of CP-A-1: no fault of CP-A-1 makes both fail", "CP-A-1 (MUST) has 1 fault, expected at least 2"}, p.Problems)
	p.Rows = append(p.Rows, p.Rows[0])
	p.Rows[0].Explained = map[string][]string{"CP-A-1": {"CP-A-1"}}
	p.Conclude()
	assert.Empty(t, p.Problems)

	p.Gate = true
	p.Rows[0].Explained, p.Rows[0].Also = nil, map[string]string{"CP-B-1": "why"}
	p.Conclude()
	assert.Empty(t, p.Problems, "the gate does not run the other requirements that the fault declares")
}
