package invariants

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
	"github.com/agentconform/agentconform/steps/target"
)

const (
	planeBase = "http://plane.test"
	agentBase = "http://agent.test"
	one       = "11111111-1111-4111-8111-111111111111"
	two       = "22222222-2222-4222-8222-222222222222"
)

// The steps that are tested.
const (
	idsOfPlane    = `each response of the control plane has the id of its request`
	closedPlane   = `no control-plane request without valid credentials returned 2xx`
	asSent        = `each read of a revision shows what was sent for it`
	asBefore      = `each read of a revision shows the earlier values of the fields that its update did not name`
	asNamed       = `each response with a deployment shows the source_revision_config of the revision that it names as latest`
	staysDeployed = `each revision that was DEPLOYED stays DEPLOYED until a later one exists`
	apart         = `no response to one caller contains an id or a text of another user`
	rolledBack    = `no response after a rollback contains the id or the text of the prior run`
)

// history is the record of a test run, written by a test.
type history struct {
	t      *testing.T
	target *target.Target
	oracle *spec.Oracle
	others []Other
	at     time.Time
}

// theOracle returns the oracle of all tests, because compiling the documents takes longer than a test.
var theOracle = sync.OnceValues(spec.New)

func newHistory(t *testing.T, changes ...func(*config.Config)) *history {
	t.Helper()
	oracle, err := theOracle()
	require.NoError(t, err)
	c := config.Default()
	c.Target, c.AgentTarget = planeBase, agentBase
	c.Credentials.APIKey = "the-key"
	c.Users = []config.User{{Name: "first", Token: "token-of-ada", Identity: "ada"}, {Name: "second", Token: "token-of-bob", Identity: "bob"}}
	c.Agent.RejectedStatus, c.Agent.RejectedDetail = config.Always(401), config.Always("Invalid token")
	for _, change := range changes {
		change(&c)
	}
	require.NoError(t, c.Complete())
	h := &history{t: t, oracle: oracle, at: time.Now()}
	h.target, err = target.New(target.Options{Config: &c, Oracle: oracle, Start: h.at, RunID: "test"})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.target.Close()) })
	return h
}

// sees records an exchange, one second after the previous one.
func (h *history) sees(r exchange.Request, status int, body string) {
	h.at = h.at.Add(time.Second)
	a := &exchange.Response{Request: r, Status: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte(body), Sent: h.at, Took: 100 * time.Millisecond}
	h.target.Collector.Observe(h.t.Context(), r, h.at, a, "")
}

// plane records an exchange with the control plane.
func (h *history) plane(who target.Sender, method, path, body string, status int, response string) {
	var sent any
	if body != "" {
		sent = []byte(body)
	}
	h.sees(h.target.ToControlPlane(who, method, path, sent), status, response)
}

// agent records an exchange with the agent server.
func (h *history) agent(who target.Caller, method, path, body string, status int, response string) {
	var sent any
	if body != "" {
		sent = []byte(body)
	}
	h.sees(h.target.ToAgent(agentBase, who, method, path, sent), status, response)
}

// failing returns another requirement that has failed.
func failing(id string, level reports.Level, found ...outcome.Violation) Other {
	return Other{&features.Requirement{ID: id, Level: level}, &outcome.Outcome{Verdict: reports.Failed, Violations: found}}
}

// judged returns the number of exchanges that an invariant judged, and its outcome, or nil if it passed.
func (h *history) judged(step string) (int, *outcome.Outcome) {
	n, err := NewRecord(h.target, func() []Other { return h.others }).outcome(step)
	if err == nil {
		return n, nil
	}
	o, is := err.(*outcome.Outcome) //nolint:errorlint // made here
	require.True(h.t, is, "%v", err)
	if o.Verdict == reports.Failed {
		for _, v := range o.Violations {
			judgetest.CheckTexts(h.t, v)
		}
	}
	return n, o
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

	h.others = []Other{failing("CP-AUTH-5", reports.Should)}
	_, o = h.judged(closedPlane)
	require.NotNil(t, o)
	assert.Equal(t, reports.Failed, o.Verdict, "a SHOULD is not enough")
	h.others = []Other{failing("CP-AUTH-2", reports.Must)}
	_, o = h.judged(closedPlane)
	require.NotNil(t, o)
	assert.Equal(t, reports.Skipped, o.Verdict, "another requirement covers it")
	assert.Equal(t, &reports.Skip{Kind: reports.NotApplicable, Key: "CP-AUTH-2"}, o.Skip)
	require.Len(t, o.Violations, 1)
	assert.Equal(t, outcome.Accepted, o.Violations[0].Kind, "the covered violation is kept")
}

func TestBlockedRequirementBlocksItsInvariant(t *testing.T) {
	h := newHistory(t)
	h.others = []Other{{&features.Requirement{ID: "AS-ROLLBACK-2", Level: reports.Must}, outcome.Blocked("the graph does not wait").By(reports.ByGraph, "wait")}}
	_, o := h.judged(rolledBack)
	require.NotNil(t, o)
	assert.Equal(t, reports.Blocked, o.Verdict)
	assert.True(t, o.IsBy(reports.ByGraph))
	_, o = h.judged(apart)
	assert.Nil(t, o, "another invariant is not blocked")
	h.plane(target.TheClient, "GET", "/v2/deployments/"+one, "", 200, `{"id":"`+one+`"}`)
	h.others = []Other{{&features.Requirement{ID: "CP-GET-1", Level: reports.Must}, outcome.Blocked("no deployment")}}
	_, o = h.judged(idsOfPlane)
	assert.Nil(t, o, "there is evidence")
}

func TestViolationOfTwoRequirementsIsReportedOnce(t *testing.T) {
	h := newHistory(t)
	h.plane(target.TheClient, "GET", "/v2/deployments/"+one, "", 200, `{"id":"`+two+`"}`)
	h.others = []Other{failing("CP-LIST-1", reports.Must, outcome.Violation{Exchange: 1, Pointer: "/other"}),
		failing("CP-LIST-2", reports.Must, outcome.Violation{Exchange: 2, Pointer: "/id"})}
	_, o := h.judged(idsOfPlane)
	assert.Equal(t, reports.Failed, o.Verdict)
	h.others = append(h.others, failing("CP-LIST-3", reports.Must, outcome.Violation{Exchange: 1, Pointer: "/id"}))
	_, o = h.judged(idsOfPlane)
	assert.Equal(t, &reports.Skip{Kind: reports.NotApplicable, Key: "CP-LIST-3"}, o.Skip)
}

// created records the creation of deployment one with its first revision.
func (h *history) created(body, revision string) {
	h.plane(target.TheClient, "POST", "/v2/deployments", body, 201, `{"id":"`+one+`","latest_revision_id":"`+revision+`"}`)
}

// row is a history with the pointer of its violation. The pointer is "/" for the whole response, "" if there is no
// violation, and "none" if no exchange was judged.
type row struct {
	script func(h *history)
	fails  string
}

// judgeEach judges the history of each row, which follows a common beginning.
func judgeEach(t *testing.T, step string, begin func(h *history), rows map[string]row) {
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			begin(h)
			row.script(h)
			judged, o := h.judged(step)
			assert.Equal(t, row.fails == "none", judged == 0)
			if row.fails == "" || row.fails == "none" {
				assert.Nil(t, o)
				return
			}
			require.NotNil(t, o)
			assert.Equal(t, strings.TrimSuffix(row.fails, "/"), o.Violations[0].Pointer)
		})
	}
}

const deployment, three = "/v2/deployments/" + one, "33333333-3333-4333-8333-333333333333"

func (h *history) reads(path, response string) {
	h.plane(target.TheClient, "GET", path, "", 200, response)
}

func (h *history) patches(body string, status int, response string) {
	h.plane(target.TheClient, "PATCH", deployment, body, status, response)
}

func TestResponseHasTheIDOfItsRequest(t *testing.T) {
	reads := func(path, response string) func(h *history) { return func(h *history) { h.reads(path, response) } }
	judgeEach(t, idsOfPlane, func(*history) {}, map[string]row{
		"the id in upper case": {reads("/v2/deployments/aaaaaaaa-1111-4111-8111-111111111111",
			`{"id":"AAAAAAAA-1111-4111-8111-111111111111"}`), ""},
		"not a UUID": {reads(deployment, `{"id":"x"}`), "none"},
		"not JSON":   {reads(deployment, `{`), "none"},
	})
}

func TestResponsesContainNothingOfARolledBackRun(t *testing.T) {
	const waiting, run, id = "wait=60000 the words of the prior run", "/threads/t/runs", "prior-run-of-many-bytes"
	rolls := func(prior, strategy, next string, joined bool, response string) func(h *history) {
		return func(h *history) {
			ada := h.target.Owner()
			h.agent(ada, "POST", run, runSaying(prior, ""), 200, `{"run_id":"`+id+`"}`)
			h.agent(ada, "POST", run, runSaying("new", strategy), 200, `{"run_id":"`+next+`"}`)
			if joined {
				h.agent(ada, "GET", run+"/"+next+"/join", "", 200, `{}`)
			}
			h.agent(ada, "GET", "/threads/t/state", "", 200, response)
		}
	}
	const rollback = `,"multitask_strategy":"rollback"`
	interrupts := func(h *history) {
		h.agent(h.target.Owner(), "POST", run, runSaying(waiting, ""), 200, `{"run_id":"`+id+`"}`)
		h.agent(h.target.Owner(), "POST", run, runSaying("between", ""), 200, `{"run_id":"between"}`)
		h.agent(h.target.Owner(), "POST", run, runSaying("new", rollback), 200, `{"run_id":"new"}`)
		h.agent(h.target.Owner(), "GET", run+"/new/join", "", 200, `{}`)
		h.agent(h.target.Owner(), "GET", "/threads/t/state", "", 200, `{"x":"`+waiting+`"}`)
	}
	judgeEach(t, rolledBack, func(*history) {}, map[string]row{
		"its id is used again":                {rolls(waiting, rollback, id, true, `{"run":"`+id+`"}`), ""},
		"it was not rolled back":              {rolls(waiting, "", "new", true, `{"x":"`+waiting+`"}`), "none"},
		"it may have been completed":          {rolls("the words", rollback, "new", true, `{"x":"the words"}`), "none"},
		"a plain run may have interrupted it": {interrupts, "none"},
		"the new run may be in progress":      {rolls(waiting, rollback, "new", false, `{"x":"`+waiting+`"}`), "none"},
	})
}
