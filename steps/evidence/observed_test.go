package evidence

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// TestWhatIsTakenIsWhatWasObserved writes what a collector observes as JSON, has another one take it, and compares all that both know.
func TestWhatIsTakenIsWhatWasObserved(t *testing.T) {
	start := time.Now()
	collector := func() *Collector {
		c := newCollector(t, client.NewRedactor(map[string]string{"the-token-of-the-caller": "$TOKEN"}), start)
		v, misuses := spec.NewVocabulary(map[string]string{"source": "origin"})
		require.Empty(t, misuses)
		require.NoError(t, c.Translate(v))
		return c
	}
	first, second := collector(), collector()
	var lines []string
	first.Record = func(o *Observed) func() error {
		text, err := json.Marshal(o)
		return func() error { lines = append(lines, string(text)); return err }
	}
	const id = "/v2/deployments/3f2a8c1e-5b7d-4e9f-8a6c-0d1e2f3a4b5c"
	for n, x := range []struct {
		r      client.Request
		status int
		body   string
	}{
		{client.Request{Side: spec.ControlPlane, Method: "GET", Path: id, Trusted: true}, 200, `{"id":7,"name":"the-token-of-the-caller"}`},
		{client.Request{Side: spec.ControlPlane, Method: "GET", Path: id, Trusted: true}, 500, `{"detail":"x"}`},
		{client.Request{Side: spec.ControlPlane, Method: "GET", Path: id + "/revisions", Query: "limit=0&offset=3", Wrong: true}, 422, `{"detail":"no"}`},
		{client.Request{Side: spec.ControlPlane, Method: "GET", Path: id + "/revisions", Query: "limit=9"}, 404, `{"detail":7}`},
		{client.Request{Side: spec.ControlPlane, Method: "POST", Path: "/v2/deployments", Body: []byte(`{"source":"git_host"}`)}, 201, `{"id":"dep 1"}`},
		{client.Request{Side: spec.ControlPlane, Method: "GET", Path: "/v2/deployments/dep%201"}, 429, ``},
		{client.Request{Side: spec.ControlPlane, Method: "GET", Path: "/v2/deployments/dep%202"}, 404, `{"detail":"` + strings.Repeat("x", 70<<10) + `"}`},
		{client.Request{Side: spec.AgentServer, Method: "GET", Path: "/threads/t/runs/r/join", Raised: true}, 500, `{}`},
		{client.Request{Side: spec.AgentServer, Method: "GET", Path: "/threads/t/state", Early: true}, 503, `{}`},
		{client.Request{Side: spec.AgentServer, Method: "POST", Path: "/threads/t/runs", Body: []byte(`{"multitask_strategy":"rollback"}`)}, 0, ``},
	} {
		x.r.Base, x.r.Header = "http://t", http.Header{"Authorization": {"Bearer the-token-of-the-caller"}, "Content-Type": {"application/json"}}
		ctx := WithPart(WithScenario(context.Background(), "scenario "+string(rune('a'+n%3)), n%3), reports.Act)
		var a *client.Answer
		if x.status > 0 {
			a = &client.Answer{Request: x.r, Status: x.status, Header: http.Header{"Content-Type": {"application/json"}}, Received: []byte(x.body)}
			a.Body, a.Traces = first.judge.vocabulary.Answer(x.r.Side, x.r.Method, x.r.Path, x.status, a.Received)
		}
		_, body, traces := first.judge.vocabulary.Request(x.r.Side, x.r.Method, x.r.Path, x.r.Query, x.r.Body)
		first.Observe(ctx, x.r, client.Wire{Query: x.r.Query, Body: body, Traces: traces}, start.Add(time.Duration(n)*time.Second), a, "")
	}
	require.Len(t, lines, 10)
	for _, line := range lines {
		assert.NotContains(t, line, "the-token-of-the-caller")
		var o Observed
		require.NoError(t, json.Unmarshal([]byte(line), &o))
		require.NoError(t, second.Take(&o))
	}
	assert.Equal(t, first.Coverage(spec.ControlPlane, spec.AgentServer), second.Coverage(spec.ControlPlane, spec.AgentServer))
	for _, op := range append(first.judge.oracle.Operations(spec.ControlPlane), first.judge.oracle.Operations(spec.AgentServer)...) {
		assert.Equal(t, first.Violations(op.ID), second.Violations(op.ID), op.ID)
		assert.Equal(t, first.Answered(op.ID), second.Answered(op.ID), op.ID)
		for _, status := range []int{404, 422, 500} {
			one, two := first.ErrorAnswers(op.ID, status), second.ErrorAnswers(op.ID, status)
			require.Len(t, two, len(one), op.ID)
			for i := range one {
				assert.Equal(t, string(one[i].Body), string(two[i].Body))
				assert.Equal(t, string(one[i].Wire()), string(two[i].Wire()))
				assert.Equal(t, one[i].ID, two[i].ID)
			}
		}
	}
	for _, side := range []spec.Side{spec.ControlPlane, spec.AgentServer} {
		assert.Equal(t, first.Trusted(side), second.Trusted(side))
		for _, kind := range []Asked{Kept, Parameter, Broken, Raised} {
			n, one := first.ServerErrors(side, kind)
			m, two := second.ServerErrors(side, kind)
			assert.Equal(t, n, m)
			require.Len(t, two, len(one))
			for i := range one {
				assert.Equal(t, [4]any{one[i].Operation, one[i].Status, one[i].Count, one[i].Answer == nil}, [4]any{two[i].Operation, two[i].Status, two[i].Count, two[i].Answer == nil})
			}
		}
	}
	assert.NotEmpty(t, first.OwnMistakes())
	assert.Equal(t, first.OwnMistakes(), second.OwnMistakes())
	assert.Equal(t, OwnToken{Answers: 1, Exchange: 1, Pointer: "/name"}, first.OwnToken())
	assert.Equal(t, first.OwnToken(), second.OwnToken())
	assert.Equal(t, first.Order(), second.Order())
	assert.Equal(t, first.SentBy("scenario a"), second.SentBy("scenario a"))
	assert.Equal(t, first.Words.Doubtful("source"), second.Words.Doubtful("source"))
	assert.Equal(t, first.Words.DoubtfulIn(5), second.Words.DoubtfulIn(5))
	for n := 1; n <= len(lines); n++ {
		one, err := first.journal.(reports.Recorder).Get(n)
		require.NoError(t, err)
		two, err := second.journal.(reports.Recorder).Get(n)
		require.NoError(t, err)
		assert.Equal(t, one, two)
		assert.Equal(t, first.TrustedStatus(n), second.TrustedStatus(n))
	}
}

// TestTheLedgerOfARunThatGoesOn has what the run created before, whether it was removed, and leaves others alone.
func TestTheLedgerOfARunThatGoesOn(t *testing.T) {
	file := t.TempDir() + "/ledger.jsonl"
	other, err := OpenLedger(file, "other", "http://t")
	require.NoError(t, err)
	require.NoError(t, other.Created(Deployment, "z", "x"))
	require.NoError(t, other.Close())
	l, err := OpenLedger(file, "run", "http://t")
	require.NoError(t, err)
	for _, deployment := range []string{"a", "b"} {
		require.NoError(t, l.Created(Deployment, deployment, "x"))
		require.NoError(t, l.Add(reports.LedgerEntry{Kind: Thread, ID: "t", Address: "http://" + deployment, Deployment: deployment}))
	}
	require.NoError(t, l.Removed(reports.LedgerEntry{Kind: Deployment, ID: "a"}))
	require.NoError(t, l.Close())
	appendTo(t, file, `{"run":"run","target":"http://t","kind":"deploy`)

	l, err = ResumeLedger(file, "run", "http://t")
	require.NoError(t, err)
	var left []string
	for _, e := range l.Earlier() {
		left = append(left, e.Run+" "+e.Kind+" "+e.ID+" "+e.Address)
	}
	assert.Equal(t, []string{"run deployment b http://t", "run thread t http://b"}, left)
	assert.Len(t, l.Entries(), 4, "the removed ones too")
	assert.Empty(t, l.Left(Deployment))
	require.NoError(t, l.Created(Deployment, "c", "x"))
	require.NoError(t, l.Removed(reports.LedgerEntry{Kind: Deployment, ID: "b"}))
	assert.Len(t, l.Left(Deployment), 1)
	assert.Empty(t, l.Earlier())
	require.NoError(t, l.Close())
	all, damaged, err := ReadLedger(file)
	require.NoError(t, err)
	assert.Empty(t, damaged)
	require.Len(t, all, 2)
	assert.Equal(t, []string{"z", "c"}, []string{all[0].ID, all[1].ID})
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}
