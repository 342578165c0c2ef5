package proof_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/proof"
)

func TestJudge(t *testing.T) {
	fault := func(change func(*proof.Row)) proof.Row {
		r := proof.Row{Kind: proof.Fault, Fails: "CP-A-1", Red: []string{"CP-A-1"}, Verdict: reports.NonConformant}
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		row  proof.Row
		says string
	}{
		"caught":                 {fault(func(*proof.Row) {}), ""},
		"missed":                 {fault(func(r *proof.Row) { r.Red = nil }), "missed"},
		"only blocked":           {fault(func(r *proof.Row) { r.Red, r.Open = nil, []string{"CP-A-1"} }), "only blocked or inconclusive"},
		"another is red":         {fault(func(r *proof.Row) { r.Red = append(r.Red, "CP-B-1") }), "does not declare"},
		"another is declared":    {fault(func(r *proof.Row) { r.Red = append(r.Red, "CP-B-1"); r.Also = map[string]string{"CP-B-1": "why"} }), ""},
		"declared and not red":   {fault(func(r *proof.Row) { r.Also = map[string]string{"CP-B-1": "why"} }), "it does not"},
		"a MUST and conformant":  {fault(func(r *proof.Row) { r.Verdict = reports.Conformant }), "the verdict is conformant"},
		"green variation":        {proof.Row{Kind: proof.Variation, Verdict: reports.Conformant}, ""},
		"red variation":          {proof.Row{Kind: proof.Variation, Verdict: reports.Conformant, Red: []string{"CP-A-1"}}, "turned red"},
		"open variation":         {proof.Row{Kind: proof.Variation, Verdict: reports.Incomplete, Open: []string{"CP-A-1"}}, "incomplete"},
		"unmasked impostor":      {proof.Row{Kind: proof.Impostor, Verdict: reports.Incomplete}, ""},
		"believed impostor":      {proof.Row{Kind: proof.Impostor, Verdict: reports.Conformant}, "taken for conformant"},
		"pristine and not whole": {proof.Row{Kind: proof.Pristine, Verdict: reports.NonConformant, Red: []string{"CP-A-1"}}, "turned red"},
	} {
		t.Run(name, func(t *testing.T) {
			problem := c.row.Judge(reports.Must)
			if c.says == "" {
				assert.Empty(t, problem)
			} else {
				assert.Contains(t, problem, c.says)
			}
		})
	}
}

func sample() *proof.Proof {
	p := &proof.Proof{
		Whole:        true,
		Requirements: []proof.Requirement{{ID: "CP-A-1", Level: reports.Must, Title: "A <b>"}, {ID: "CP-B-1", Level: reports.Should, Title: "B"}},
		Rows: []proof.Row{
			{Kind: proof.Fault, Name: "one", Does: "<script>alert(1)</script>", Fails: "CP-A-1", Red: []string{"CP-A-1"}, Verdict: reports.NonConformant, Shown: "a | b"},
			{Kind: proof.Fault, Name: "two", Fails: "CP-A-1", Red: []string{}, Verdict: reports.Conformant},
			{Kind: proof.Variation, Name: "three", Verdict: reports.Conformant},
			{Kind: proof.Impostor, Name: "four", Verdict: reports.NonConformant},
		},
	}
	p.Conclude()
	return p
}

func TestConclude(t *testing.T) {
	p := sample()
	assert.Len(t, p.Problems, 2, "the missed fault, and the requirement without one")
	assert.Contains(t, p.Problems[1], "CP-B-1 is a SHOULD and has 0 faults, fewer than 1")
	assert.Equal(t, proof.Figures{Requirements: 2, Faults: 2, Caught: 1, Variations: 1, Green: 1, Impostors: 1, Unmasked: 1, MedianRadius: 1, WidestRadius: 1}, p.Figures())
}

func TestOneFaultOfAMustIsTooFew(t *testing.T) {
	p := sample()
	p.Rows = p.Rows[:1]
	p.Conclude()
	assert.Equal(t, "CP-A-1 is a MUST and has 1 fault, fewer than 2", p.Problems[0])
	p.Rows = append(p.Rows, p.Rows[0])
	p.Requirements = p.Requirements[:1]
	p.Conclude()
	assert.Equal(t, "the proof holds", p.Verdict())
}

func TestFigures(t *testing.T) {
	page := []byte("# Title\n<!-- proof: figures written by agentconform prove --readme -->\nold\n<!-- proof: end -->\nrest\n")
	renewed, err := proof.Renew(page, sample().Figures())
	require.NoError(t, err)
	assert.Contains(t, string(renewed), "2 requirements; 1 of 2 deliberate faults")
	assert.True(t, strings.HasSuffix(string(renewed), "-->\nrest\n"))
	shown, err := proof.Shown(renewed)
	require.NoError(t, err)
	assert.Equal(t, sample().Figures(), shown)
	_, err = proof.Renew([]byte("no marks"), proof.Figures{})
	assert.ErrorContains(t, err, "no place for the figures")
	_, err = proof.Shown(page)
	assert.ErrorContains(t, err, "shows no figures")
}

func TestFormats(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, proof.Write(dir, sample()))
	var page, text, document strings.Builder
	require.NoError(t, proof.HTML(&page, sample()))
	assert.NotContains(t, page.String(), "<script>")
	_, err := html.Parse(strings.NewReader(page.String()))
	require.NoError(t, err)
	require.NoError(t, proof.Markdown(&text, sample()))
	assert.NotContains(t, text.String(), "<script>")
	require.NoError(t, proof.JSON(&document, sample()))
	var again proof.Proof
	require.NoError(t, json.Unmarshal([]byte(document.String()), &again))
	assert.Equal(t, sample().Rows, again.Rows)
	var console strings.Builder
	require.NoError(t, proof.Console(&console, sample()))
	assert.Contains(t, console.String(), "the proof fails: 2 problems")
}

func TestAPartSaysNothingOfTheRest(t *testing.T) {
	p := sample()
	p.Whole, p.Rows = false, p.Rows[:1]
	p.Conclude()
	var page, console strings.Builder
	require.NoError(t, proof.HTML(&page, p))
	assert.Contains(t, page.String(), "the proof holds")
	assert.Contains(t, page.String(), "CP-A-1")
	for _, absent := range []string{"CP-B-1", "Variations", "No implementations", "0 of 0"} {
		assert.NotContains(t, page.String(), absent)
	}
	require.NoError(t, proof.Console(&console, p))
	assert.Contains(t, console.String(), "1 of 1 deliberate faults caught by the requirement they break, each turning 1 requirement red in the median (1 at most)\nthe proof holds for this part: the other faults were not tried")

	p.Rows = nil
	assert.Equal(t, "no fault and no variation was tried", p.Sentence())
}
