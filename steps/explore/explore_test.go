package explore

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// remembering is a session that fails after a deployment was created, updated twice and retrieved, in this order.
type remembering struct{ done []string }

func (s *remembering) sequence(random *rand.Rand, n int, _ coverage) (all []Operation) {
	for range n {
		verbs := []string{deploy, update, settle, getDeployment, listRevisions}
		all = append(all, Operation{Caller: theClient, Verb: verbs[random.IntN(len(verbs))], Object: random.IntN(2), Meanwhile: random.IntN(3) == 0})
	}
	return all
}

func (s *remembering) applies(Operation, []Operation) bool { return true }
func (s *remembering) send(context.Context, *done) error   { return nil }
func (s *remembering) explain(_ context.Context, group []done) (*Wrong, error) {
	remaining := []string{deploy, update, update, getDeployment}
	for _, d := range group {
		s.done = append(s.done, d.Verb)
	}
	for _, verb := range s.done {
		if len(remaining) > 0 && verb == remaining[0] {
			remaining = remaining[1:]
		}
	}
	if len(remaining) == 0 {
		return wrong("CP-GET-1", outcome.Fails(nil, outcome.Violation{Expected: "this", Actual: "that"})), nil
	}
	return nil, nil
}

func TestExploreShrinksASequence(t *testing.T) {
	var sessions atomic.Int64
	begin := func() session {
		sessions.Add(1)
		return &remembering{}
	}
	r := (&Explorer{uri: planeURI, begin: begin}).Explore(t.Context(), 1, 2000)
	require.NotNil(t, r.Failure)
	assert.Equal(t, "CP-GET-1", r.Failure.Requirement)
	var verbs []string
	for _, o := range r.Failure.Operations {
		verbs = append(verbs, o.Verb)
		assert.False(t, o.Meanwhile, "%v", o)
	}
	assert.Equal(t, []string{deploy, update, update, getDeployment}, verbs)
	assert.Equal(t, []int{2, 2}, []int{r.Failure.Judged, r.Failure.Seen})
	assert.Less(t, sessions.Load(), int64(2000/perSequence))
}

// TestExplainedTriesEachOrder has two updates with reads at the same time. Each read may show the state before, between
// or after the updates.
func TestExplainedTriesEachOrder(t *testing.T) {
	s := &planeSession{controlPlane: &controlPlane{values: map[string]any{"repo_ref 2": "next", "graph_config_path 2": "b.json", "repo_ref null": nil}},
		deployments: map[int]*deployment{0: {owner: "CP-UPDATE-1"}}}
	answered := func(verb, with, body string) done {
		d := done{Operation: Operation{Caller: theClient, Verb: verb, With: with}, response: &exchange.Response{Status: 200, Body: []byte(body)}, group: make([]Operation, 2)}
		d.lists = []*exchange.Response{d.response}
		return d
	}
	shows := func(latest, ref, path string) string {
		return `{"latest_revision_id":"` + latest + `","id":"` + latest + `","source_revision_config":{"repo_ref":"` + ref + `","graph_config_path":"` + path + `"}}`
	}
	rows := func(all ...string) string {
		return `{"resources":[` + strings.Join(all, ",") + `]}`
	}
	before := []past{{{id: "1", source: map[string]string{"repo_ref": "main", "graph_config_path": "a.json"}}}}
	ref, path, nothing := answered(update, "repo_ref 2", ""), answered(update, "graph_config_path 2", ""), answered(update, "repo_ref null", "")
	first, both := shows("1", "main", "a.json"), shows("3", "next", "b.json")
	for name, row := range map[string]struct {
		about []done
		wrong string
	}{
		"ref, then path": {[]done{ref, path, answered(getDeployment, "", shows("2", "next", "a.json")), answered(listRevisions, "", rows(first))}, ""},
		"path, then ref": {[]done{ref, path, answered(getDeployment, "", shows("2", "main", "b.json")), answered(getDeployment, "", both)}, ""},
		"all rows":       {[]done{ref, path, answered(listRevisions, "", rows(both, shows("2", "main", "b.json"), first))}, ""},
		"neither order":  {[]done{ref, path, answered(listRevisions, "", rows(shows("3", "next", "a.json"), shows("2", "main", "b.json"), first))}, "CP-UPDATE-9"},
		"another value":  {[]done{ref, answered(getDeployment, "", shows("2", "other", "a.json"))}, "CP-UPDATE-9"},
		"one was lost":   {[]done{ref, answered(getDeployment, "", shows("2", "next", "b.json"))}, "CP-UPDATE-12"},
		"an earlier one": {[]done{ref, answered(listRevisions, "", rows(shows("2", "next", "a.json"), shows("1", "next", "a.json")))}, "CP-REV-5"},
		"one too many":   {[]done{nothing, answered(listRevisions, "", rows(first, shows("2", "main", "a.json")))}, "CP-UPDATE-1"},
		"no new one":     {[]done{nothing, answered(getDeployment, "", first)}, ""},
		"twice in it":    {[]done{ref, answered(listRevisions, "", rows(first, first))}, "CP-UPDATE-1"},
	} {
		_, problem := explained(before, row.about, s.after, func(string) bool { return false })
		if row.wrong == "" {
			assert.Nil(t, problem, name)
		} else if assert.NotNil(t, problem, name) {
			assert.Equal(t, row.wrong, problem.Requirement, name)
		}
	}
}
