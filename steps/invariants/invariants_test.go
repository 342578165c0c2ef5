package invariants

import (
	"net/http"
	"strings"
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
	"github.com/agentconform/agentconform/steps/target"
)

const (
	planeBase = "http://plane.test"
	agentBase = "http://agent.test"
	one       = "11111111-1111-4111-8111-111111111111"
	two       = "22222222-2222-4222-8222-222222222222"
)

// The sentences that are tested.
const (
	idsOfPlane    = `each answer of the control plane has the id of its request`
	closedPlane   = `no control-plane request without valid credentials was answered with 2xx`
	asSent        = `each read of a revision shows what was sent for it`
	asNamed       = `each answer with a deployment shows the source_revision_config of the revision that it names as latest`
	staysDeployed = `no revision was seen with another status after it was DEPLOYED while none was later`
	apart         = `no answer to one caller holds an id or a text of another user`
	rolledBack    = `no answer after a rollback holds the id or the text of the prior run`
)

// history is the record of a run that a test writes.
type history struct {
	t      *testing.T
	target *target.Target
	oracle *spec.Oracle
	others []Other
	at     time.Time
}

func newHistory(t *testing.T, changes ...func(*config.Config)) *history {
	t.Helper()
	oracle, err := spec.New()
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

// sees records an exchange, one second after the one before.
func (h *history) sees(r exchange.Request, status int, body string) {
	h.at = h.at.Add(time.Second)
	a := &exchange.Response{Request: r, Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body), Sent: h.at, Took: 100 * time.Millisecond}
	h.target.Collector.Observe(h.t.Context(), r, h.at, a, "")
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

// failed is another requirement that has failed.
func failed(id string, level reports.Level, found ...outcome.Violation) Other {
	return Other{&features.Requirement{ID: id, Level: level}, &outcome.Outcome{Verdict: reports.Failed, Violations: found}}
}

// judged returns the outcome of an invariant; nil where it holds.
func (h *history) judged(sentence string) (int, *outcome.Outcome) {
	n, err := NewRecord(h.target, func() []Other { return h.others }).outcome(sentence)
	if err == nil {
		return n, nil
	}
	o, is := err.(*outcome.Outcome) //nolint:errorlint // made here
	require.True(h.t, is, "%v", err)
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

	h.others = []Other{failed("CP-AUTH-5", reports.Should)}
	_, o = h.judged(closedPlane)
	require.NotNil(t, o)
	assert.Equal(t, reports.Failed, o.Verdict, "a SHOULD is not enough")
	h.others = []Other{failed("CP-AUTH-2", reports.Must)}
	_, o = h.judged(closedPlane)
	require.NotNil(t, o)
	assert.Equal(t, reports.Skipped, o.Verdict, "another requirement tells it")
	assert.Equal(t, &reports.Skip{Kind: reports.NotApplicable, Key: "CP-AUTH-2"}, o.Skip)
}

func TestWhatKeptTheRequestsFromBeingSentBlocks(t *testing.T) {
	h := newHistory(t)
	h.others = []Other{{&features.Requirement{ID: "AS-ROLLBACK-2", Level: reports.Must}, outcome.Blocked("the graph does not wait").By(reports.ByGraph, "wait")}}
	_, o := h.judged(rolledBack)
	require.NotNil(t, o)
	assert.Equal(t, reports.Blocked, o.Verdict)
	assert.True(t, o.IsBy(reports.ByGraph))
	_, o = h.judged(apart)
	assert.Nil(t, o, "it tells nothing of another invariant")
	h.plane(target.TheClient, "GET", "/v2/deployments/"+one, "", 200, `{"id":"`+one+`"}`)
	h.others = []Other{{&features.Requirement{ID: "CP-GET-1", Level: reports.Must}, outcome.Blocked("no deployment")}}
	_, o = h.judged(idsOfPlane)
	assert.Nil(t, o, "there is evidence")
}

func TestWhatShowsAtTheSamePlaceIsLeftToTheOther(t *testing.T) {
	h := newHistory(t)
	h.plane(target.TheClient, "GET", "/v2/deployments/"+one, "", 200, `{"id":"`+two+`"}`)
	h.others = []Other{failed("CP-LIST-1", reports.Must, outcome.Violation{Exchange: 1, Pointer: "/other"}),
		failed("CP-LIST-2", reports.Must, outcome.Violation{Exchange: 2, Pointer: "/id"})}
	_, o := h.judged(idsOfPlane)
	assert.Equal(t, reports.Failed, o.Verdict)
	h.others = append(h.others, failed("CP-LIST-3", reports.Must, outcome.Violation{Exchange: 1, Pointer: "/id"}))
	_, o = h.judged(idsOfPlane)
	assert.Equal(t, &reports.Skip{Kind: reports.NotApplicable, Key: "CP-LIST-3"}, o.Skip)
}

// created answers the creation of a deployment, whose id is one, with the id of its first revision.
func (h *history) created(body, revision string) {
	h.plane(target.TheClient, "POST", "/v2/deployments", body, 201, `{"id":"`+one+`","latest_revision_id":"`+revision+`"}`)
}

func TestSpellingsOfTheSameValue(t *testing.T) {
	for _, row := range []struct {
		field, sent, shown string
		same               bool
	}{
		{"repo_ref", "main", "main", true},
		{"repo_ref", "main", "Main", false},
		{"graph_config_path", "./a/agent.json", "a/agent.json", true},
		{"graph_config_path", "a/agent.json", "b/agent.json", false},
		{"repo_commit_sha", "0a1b2c3d4e", "0a1b2c3", true},
		{"repo_commit_sha", "0a1b2c3d4e", "0a", false},
		{"image_uri", "busybox", "docker.io/library/busybox:latest", true},
		{"image_uri", "Registry.test/a:1", "https://registry.test/a:1", true},
		{"image_uri", "registry.test/a:1", "registry.test/a:2", false},
		{"image_uri", "https://user:secret@registry.test/a:1", "https://user:***@registry.test/a:1", true},
		{"image_uri", "https://user:secret@registry.test/a:1", "https://user:***@registry.test/b:1", false},
	} {
		assert.Equal(t, row.same, SameValue(row.field, row.sent, row.shown), "%s: sent %s, shown %s", row.field, row.sent, row.shown)
	}
}

// says is the body of a run.
func says(text, more string) string {
	return `{"assistant_id":"a","input":{"messages":[{"role":"user","content":"` + text + `"}]}` + more + `}`
}

func TestNothingOfOneUserIsInAnAnswerToAnother(t *testing.T) {
	const secret, echoed, long = "a secret of many bytes", "what both of them sent", `{"thread_id":"thread-of-many-bytes"}`
	const state, elsewhere = "/threads/b-thread/state", agentBase + "/elsewhere"
	for name, row := range map[string]struct {
		before       func(h *history, bob target.Caller)
		path, answer string // to the other user
		fails        bool
	}{
		"a text":                  {nil, state, `{"x":["` + secret + `!"]}`, true},
		"a short id as thread_id": {nil, "/threads", `[{"thread_id":"7"}]`, true},
		"a short id by chance":    {nil, "/threads", `[{"thread_id":"17","version":"7","text":""}]`, false},
		"a short id of both": {func(h *history, bob target.Caller) {
			h.agent(bob, "POST", "/threads", `{}`, 200, `{"thread_id":"7"}`)
		}, "/threads", `[{"thread_id":"7"}]`, false},
		"an id that the other has at another agent server": {func(h *history, bob target.Caller) {
			h.sees(h.target.ToAgent(elsewhere, bob, "POST", "/threads", []byte(`{}`)), 200, long)
			h.sees(h.target.ToAgent(elsewhere, bob, "GET", "/threads", nil), 200, `[`+long+`]`)
			h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, long)
		}, "/threads", `[]`, false},
		"a long id": {func(h *history, _ target.Caller) {
			h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, long)
		}, "/threads", `[{"name":"of thread-of-many-bytes"}]`, true},
		"what the request carried":         {nil, "/threads/7/state", `{"thread_id":"7"}`, false},
		"the token of the other":           {nil, state, `{"x":"token-of-ada"}`, true},
		"the token of the other in base64": {nil, state, `{"x":"dG9rZW4tb2YtYWRh"}`, true},
		"the token of oneself":             {nil, state, `{"x":"token-of-bob"}`, false},
		"the identity of the other":        {nil, state, `{"metadata":{"owner":"ada"}}`, true},
		"a word that is an identity too":   {nil, state, `{"language":"ada"}`, false},
		"what both have sent":              {nil, state, `{"x":"` + echoed + `"}`, false},
		"a refusal of a caller without credentials": {func(h *history, _ target.Caller) {
			nobody, err := h.target.Caller(target.NoCredentials)
			require.NoError(h.t, err)
			h.agent(nobody, "GET", "/threads", "", 401, `{"detail":"not for you, but: `+secret+`"}`)
		}, "/threads", `[]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			bob, err := h.target.Caller(target.TheOtherUser)
			require.NoError(t, err)
			h.agent(bob, "POST", "/threads/b-thread/runs", says(echoed, ""), 200, `{"run_id":""}`)
			if row.before != nil {
				row.before(h, bob)
			}
			h.agent(bob, "GET", row.path, "", 200, row.answer) // before the other has sent it: what is whose is known at the end
			h.agent(bob, "POST", "/threads", `{}`, 200, `{"thread_id":""}`)
			h.agent(h.target.Owner(), "GET", "/threads", "", 200, `[{"thread_id":"","run_id":null}]`)
			h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, `{"thread_id":"7"}`)
			h.agent(h.target.Owner(), "POST", "/threads/7/runs", says(secret, ""), 200, `{"run_id":"8"}`)
			h.agent(h.target.Owner(), "POST", "/threads/7/runs", says(echoed, ""), 200, `{"run_id":"9"}`)
			judged, o := h.judged(apart)
			assert.Positive(t, judged)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}

// TestAHeaderThatUsersShareIsNoSecretOfOne has both users send the same organization; their tokens are parts of another
// header.
func TestAHeaderThatUsersShareIsNoSecretOfOne(t *testing.T) {
	for answer, leaks := range map[string]bool{`{"x":"organization-one"}`: false, `{"x":"token-of-ada-one"}`: true, `{"x":"token-of-bob-one"}`: false} {
		h := newHistory(t, func(c *config.Config) {
			for i, token := range []string{"token-of-ada-one", "token-of-bob-one"} {
				c.Users[i].Token = ""
				c.Users[i].Headers = map[string]string{"Authorization": "Bearer " + token, "X-Tenant": "organization-one"}
			}
		})
		bob, err := h.target.Caller(target.TheOtherUser)
		require.NoError(t, err)
		h.agent(bob, "GET", "/threads/b-thread/state", "", 200, answer)
		_, o := h.judged(apart)
		assert.Equal(t, leaks, o != nil && o.Verdict == reports.Failed, "%s: %v", answer, o)
	}
}

// row is what a run has seen, and what is wrong with it: the place of the violation, "/" for the whole answer, "" where
// nothing is, or "none" where nothing could be judged.
type row struct {
	script func(h *history)
	fails  string
}

// judgeEach judges each row after what all of them begin with.
func judgeEach(t *testing.T, sentence string, begin func(h *history), rows map[string]row) {
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			begin(h)
			row.script(h)
			judged, o := h.judged(sentence)
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

func (h *history) reads(path, answer string) { h.plane(target.TheClient, "GET", path, "", 200, answer) }

func (h *history) patches(body string, status int, answer string) {
	h.plane(target.TheClient, "PATCH", deployment, body, status, answer)
}

func TestAnAnswerHasTheIDOfItsRequest(t *testing.T) {
	reads := func(path, answer string) func(h *history) { return func(h *history) { h.reads(path, answer) } }
	judgeEach(t, idsOfPlane, func(*history) {}, map[string]row{
		"in upper case": {reads("/v2/deployments/aaaaaaaa-1111-4111-8111-111111111111",
			`{"id":"AAAAAAAA-1111-4111-8111-111111111111"}`), ""},
		"no UUID: the contract":  {reads(deployment, `{"id":"x"}`), "none"},
		"not JSON: the contract": {reads(deployment, `{`), "none"},
	})
}

func TestADeployedRevisionStaysDeployed(t *testing.T) {
	// A number is the status of an update.
	sees := func(all ...any) func(h *history) {
		return func(h *history) {
			for _, each := range all {
				if status, is := each.(int); is {
					h.patches(`{}`, status, `{}`)
				} else {
					h.reads(deployment+"/revisions/"+two, `{"id":"`+two+`","status":"`+each.(string)+`"}`)
				}
			}
		}
	}
	judgeEach(t, staysDeployed, func(h *history) { h.created(`{}`, two) }, map[string]row{
		"it falls back":              {sees("DEPLOYED", "DEPLOYING"), "/status"},
		"it cannot be told":          {sees("DEPLOYED", "UNKNOWN"), ""},
		"after an update":            {sees("DEPLOYED", 200, "SKIPPED"), "none"},
		"after an unanswered update": {sees("DEPLOYED", 503, "SKIPPED"), "none"},
		"after a refused update":     {sees("DEPLOYED", 422, "DEPLOYING"), "/status"},
		"a moment later, with replicas": {func(h *history) {
			h.target.Config.Patience = time.Minute
			sees("DEPLOYED", "DEPLOYING")(h)
		}, "none"},
	})
}

func TestADeploymentShowsTheSourceOfItsLatestRevision(t *testing.T) {
	const config = "/source_revision_config/"
	shows := func(config string) func(h *history) {
		return func(h *history) {
			h.reads(deployment, `{"latest_revision_id":"`+two+`","source_revision_config":`+config+`}`)
		}
	}
	judgeEach(t, asNamed, func(h *history) {
		h.created(`{"source_revision_config":{"repo_ref":"main"}}`, two)
		for _, seen := range [][2]string{{"BUILDING", "pending"}, {"DEPLOYED", "abc"}} {
			h.reads(deployment+"/revisions/"+two, `{"id":"`+two+`","status":"`+seen[0]+
				`","source_revision_config":{"repo_ref":"main","repo_commit_sha":"`+seen[1]+`"}}`)
		}
	}, map[string]row{
		"without the commit":       {shows(`{"repo_ref":"main","repo_commit_sha":null}`), ""},
		"another commit":           {shows(`{"repo_ref":"main","repo_commit_sha":"def"}`), config + "repo_commit_sha"},
		"null where none was sent": {shows(`{"repo_ref":"main","image_uri":null}`), ""},
	})
}

func TestNothingOfARolledBackRunIsInALaterAnswer(t *testing.T) {
	const waiting, run, id = "wait=60000 the words of the prior run", "/threads/t/runs", "prior-run-of-many-bytes"
	rolls := func(prior, strategy, next string, joined bool, answer string) func(h *history) {
		return func(h *history) {
			ada := h.target.Owner()
			h.agent(ada, "POST", run, says(prior, ""), 200, `{"run_id":"`+id+`"}`)
			h.agent(ada, "POST", run, says("new", strategy), 200, `{"run_id":"`+next+`"}`)
			if joined {
				h.agent(ada, "GET", run+"/"+next+"/join", "", 200, `{}`)
			}
			h.agent(ada, "GET", "/threads/t/state", "", 200, answer)
		}
	}
	const rollback = `,"multitask_strategy":"rollback"`
	judgeEach(t, rolledBack, func(*history) {}, map[string]row{
		"its id, used again":         {rolls(waiting, rollback, id, true, `{"run":"`+id+`"}`), ""},
		"it was not rolled back":     {rolls(waiting, "", "new", true, `{"x":"`+waiting+`"}`), "none"},
		"it may have been completed": {rolls("the words", rollback, "new", true, `{"x":"the words"}`), "none"},
		"the new one may be running": {rolls(waiting, rollback, "new", false, `{"x":"`+waiting+`"}`), "none"},
	})
}

func TestReadsOfARevisionShowWhatWasSent(t *testing.T) {
	const (
		create  = `{"source":"git_host","source_revision_config":{"repo_ref":"main","graph_config_path":"./agent.json"}}`
		toNext  = `{"source_revision_config":{"repo_ref":"next"}}`
		patched = `{"id":"` + one + `","latest_revision_id":"` + three + `"}`
		config  = "/source_revision_config/"
	)
	revision := func(id, ref, file string) string {
		return `{"id":"` + id + `","status":"DEPLOYED","source_revision_config":{"repo_ref":"` + ref + `","graph_config_path":` + file + `}}`
	}
	withCommit := func(commit string) string {
		return strings.Replace(revision(two, "main", `"agent.json"`), `"repo_ref"`, `"repo_commit_sha":"`+commit+`","repo_ref"`, 1)
	}
	get := func(h *history, id, row string) { h.reads(deployment+"/revisions/"+id, row) }
	list := func(h *history, row string) { h.reads(deployment+"/revisions", `{"resources":[`+row+`],"offset":0}`) }
	judgeEach(t, asSent, func(h *history) { h.created(create, two) }, map[string]row{
		"what was sent, in its shortest form": {func(h *history) { get(h, two, revision(two, "main", `"agent.json"`)) }, ""},
		"in a list":                           {func(h *history) { list(h, revision(two, "next", `"agent.json"`)) }, "/resources/*" + config + "repo_ref"},
		"another commit in a list": {func(h *history) { get(h, two, withCommit("0a1b2c3d4e")); list(h, withCommit("ffffffffff")) },
			"/resources/*" + config + "repo_commit_sha"},
		"the commit, shortened, or not known yet": {func(h *history) {
			for _, commit := range []string{"pending", "0a1b2c3d4e", "0A1B2C3", "pending"} {
				list(h, withCommit(commit))
			}
		}, ""},
		"what was not sent appears later": {func(h *history) {
			h.patches(toNext, 200, patched)
			get(h, three, revision(three, "next", `null`))
			get(h, three, revision(three, "next", `"agent.json"`))
		}, ""},
		"what was not sent changes": {func(h *history) {
			h.patches(toNext, 200, patched)
			get(h, three, revision(three, "next", `"agent.json"`))
			get(h, three, revision(three, "next", `"other.json"`))
		}, config + "graph_config_path"},
		"what was not sent changes with the build": {func(h *history) {
			h.patches(toNext, 200, patched)
			get(h, three, strings.Replace(revision(three, "next", `"pending"`), "DEPLOYED", "BUILDING", 1))
			get(h, three, revision(three, "next", `"agent.json"`))
		}, ""},
		"of an update": {func(h *history) {
			h.patches(toNext, 200, patched)
			get(h, three, revision(three, "main", `"agent.json"`))
		}, config + "repo_ref"},
		"of an update that names an earlier revision": {func(h *history) {
			h.patches(toNext, 200, `{"latest_revision_id":"`+two+`"}`)
			get(h, two, revision(two, "main", `"agent.json"`))
		}, ""},
		"of an update beside one without an answer": {func(h *history) {
			h.patches(`{"source_revision_config":{"repo_ref":"other"}}`, 504, ``)
			h.patches(toNext, 200, patched)
			get(h, three, revision(three, "other", `"agent.json"`))
		}, "none"},
	})
}
