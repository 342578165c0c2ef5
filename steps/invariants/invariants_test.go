package invariants

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

const (
	planeBase = "http://plane.test"
	agentBase = "http://agent.test"
	one       = "11111111-1111-4111-8111-111111111111"
	two       = "22222222-2222-4222-8222-222222222222"
)

// history is the record of a run that a test writes.
type history struct {
	t       *testing.T
	target  *target.Target
	journal *reports.Memory
	oracle  *spec.Oracle
	failed  []Failure
	at      time.Time
}

func newHistory(t *testing.T) *history {
	t.Helper()
	oracle, err := spec.New()
	require.NoError(t, err)
	c := config.Default()
	c.Target, c.AgentTarget = planeBase, agentBase
	c.Credentials.APIKey = "the-key"
	c.Users = []config.User{{Name: "ada", Token: "token-of-ada"}, {Name: "bob", Token: "token-of-bob"}}
	c.Agent.RejectedDetail = "Invalid token"
	require.NoError(t, c.Complete())
	h := &history{t: t, journal: reports.NewMemory(), oracle: oracle, at: time.Now()}
	h.target, err = target.New(target.Options{Config: &c, Oracle: oracle, Journal: h.journal, Start: h.at, RunID: "test"})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.target.Close()) })
	h.target.CallsAgentAt(agentBase)
	return h
}

// sees records an exchange, one second after the one before.
func (h *history) sees(r client.Request, status int, body string) {
	h.at = h.at.Add(time.Second)
	a := &client.Answer{Request: r, Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body), Sent: h.at, Took: 100 * time.Millisecond}
	h.target.Collector.Observe(h.t.Context(), r, client.Wire{Query: r.Query, Body: r.Body}, h.at, a, "")
}

func (h *history) plane(who target.Asker, method, path, body string, status int, answer string) {
	var sent any
	if body != "" {
		sent = []byte(body)
	}
	h.sees(h.target.ToControlPlane(who, method, path, sent), status, answer)
}

func (h *history) agent(who target.Caller, method, path, body string, status int, answer string) {
	var sent any
	if body != "" {
		sent = []byte(body)
	}
	h.sees(h.target.ToAgent(agentBase, who, method, path, sent), status, answer)
}

// judged returns the outcome of an invariant; nil where it holds.
func (h *history) judged(sentence string) (int, *outcome.Outcome) {
	n, err := NewRecord(h.target, h.oracle, h.journal, func() []Failure { return h.failed }).outcome(sentence)
	if err == nil {
		return n, nil
	}
	o, is := err.(*outcome.Outcome) //nolint:errorlint // made here
	require.True(h.t, is, "%v", err)
	return n, o
}

func TestAnAnswerHasTheIDOfItsRequest(t *testing.T) {
	for name, row := range map[string]struct {
		path, answer string
		judged       int
		fails        bool
	}{
		"the same":               {"/v2/deployments/" + one, `{"id":"` + one + `"}`, 1, false},
		"in upper case":          {"/v2/deployments/aaaaaaaa-1111-4111-8111-111111111111", `{"id":"AAAAAAAA-1111-4111-8111-111111111111"}`, 1, false},
		"another":                {"/v2/deployments/" + one, `{"id":"` + two + `"}`, 1, true},
		"of a revision":          {"/v2/deployments/" + one + "/revisions/" + two, `{"id":"` + one + `"}`, 1, true},
		"no id":                  {"/v2/deployments/" + one, `{}`, 0, false},
		"no UUID: the contract":  {"/v2/deployments/" + one, `{"id":"x"}`, 0, false},
		"not JSON: the contract": {"/v2/deployments/" + one, `{`, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.plane(target.TheClient, "GET", row.path, "", 200, row.answer)
			judged, o := h.judged(idsOfPlane)
			assert.Equal(t, row.judged, judged)
			if !row.fails {
				assert.Nil(t, o)
				return
			}
			require.NotNil(t, o)
			assert.Equal(t, reports.Failed, o.Verdict)
			assert.Equal(t, "/id", o.Violations[0].Pointer)
		})
	}
}

func TestAgentIDsMayBeNumbers(t *testing.T) {
	h := newHistory(t)
	h.agent(h.target.Owner(), "GET", "/threads/1/runs/7", "", 200, `{"run_id":7}`)
	judged, o := h.judged(idsOfAgent)
	assert.Equal(t, 1, judged)
	assert.Nil(t, o)
	h.agent(h.target.Owner(), "GET", "/threads/1/runs/7", "", 200, `{"run_id":8}`)
	_, o = h.judged(idsOfAgent)
	assert.NotNil(t, o)
}

func TestNobodyIsServedWithoutCredentials(t *testing.T) {
	h := newHistory(t)
	h.plane(target.TheClient, "GET", "/v2/deployments/"+one, "", 200, `{}`)
	h.plane(target.Nobody, "GET", "/v2/deployments/"+one, "", 401, `{}`)
	h.plane(target.UnknownKey, "GET", "/v2/deployments/"+one, "", 500, `{}`)
	h.plane(target.Nobody, "GET", "/health", "", 200, `{}`)
	judged, o := h.judged(closedPlane)
	assert.Equal(t, 1, judged, "no server error and no route beyond the interface is judged")
	assert.Nil(t, o)
	h.plane(target.UnknownKey, "GET", "/v2/deployments/"+one, "", 200, `{}`)
	_, o = h.judged(closedPlane)
	require.NotNil(t, o)
	assert.Equal(t, reports.Failed, o.Verdict)

	h.failed = []Failure{{Requirement: "CP-AUTH-2"}}
	_, o = h.judged(closedPlane)
	require.NotNil(t, o)
	assert.Equal(t, reports.Blocked, o.Verdict, "another requirement tells it")
	assert.Equal(t, []reports.Blocker{{Kind: reports.ByRequirement, Name: "CP-AUTH-2"}}, o.BlockedBy)
}

func TestARefusalIsThatOfTheHandler(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		answer string
		wrong  bool
		fails  string
	}{
		"its detail":           {401, `{"detail":"Invalid token"}`, false, ""},
		"in another form":      {401, `{"error":{"message":"Invalid token (401)"}}`, false, ""},
		"another status":       {403, `{"detail":"Invalid token"}`, false, "status 403"},
		"no detail":            {401, `{"detail":"Unauthorized"}`, false, `the detail "Unauthorized"`},
		"of an invalid body":   {422, `{"detail":[]}`, true, ""},
		"a served one: others": {200, `[]`, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			nobody, err := h.target.Caller(target.NoCredentials)
			require.NoError(t, err)
			r := h.target.ToAgent(agentBase, nobody, "GET", "/threads", nil)
			r.Wrong = row.wrong
			h.sees(r, row.status, row.answer)
			_, o := h.judged(handlerRefuses)
			if row.fails == "" {
				assert.Nil(t, o)
				return
			}
			require.NotNil(t, o)
			assert.Equal(t, row.fails, o.Violations[0].Actual)
		})
	}
}

func TestWhatShowsAtTheSamePlaceIsLeftToTheOther(t *testing.T) {
	h := newHistory(t)
	h.plane(target.TheClient, "GET", "/v2/deployments/"+one, "", 200, `{"id":"`+two+`"}`)
	h.failed = []Failure{{Requirement: "CP-LIST-1", Exchanges: []int{1}, Pointer: "/other"}, {Requirement: "CP-LIST-2", Exchanges: []int{2}, Pointer: "/id"}}
	_, o := h.judged(idsOfPlane)
	assert.Equal(t, reports.Failed, o.Verdict)
	h.failed = append(h.failed, Failure{Requirement: "CP-LIST-3", Exchanges: []int{1}, Pointer: "/id"})
	_, o = h.judged(idsOfPlane)
	assert.Equal(t, reports.Blocked, o.Verdict)
	assert.Equal(t, []reports.Blocker{{Kind: reports.ByRequirement, Name: "CP-LIST-3"}}, o.BlockedBy)
}
