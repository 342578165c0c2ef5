package invariants

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
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
	c.Users = []config.User{{Name: "ada", Token: "token-of-ada"}, {Name: "bob", Token: "token-of-bob"}}
	c.Agent.RejectedDetail = "Invalid token"
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
func (h *history) sees(r client.Request, status int, body string) {
	h.at = h.at.Add(time.Second)
	a := &client.Answer{Request: r, Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body), Sent: h.at, Took: 100 * time.Millisecond}
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

func TestReadsOfARevisionShowWhatWasSent(t *testing.T) {
	const (
		create   = `{"source":"git_host","source_revision_config":{"repo_ref":"main","graph_config_path":"./agent.json"}}`
		path     = "/v2/deployments/" + one + "/revisions"
		three    = "33333333-3333-4333-8333-333333333333"
		toNext   = `{"source_revision_config":{"repo_ref":"next"}}`
		patched  = `{"id":"` + one + `","latest_revision_id":"` + three + `"}`
		whatever = `{"source_revision_config":{"repo_ref":"other"}}`
	)
	revision := func(id, ref, file string) string {
		return `{"id":"` + id + `","status":"DEPLOYED","source_revision_config":{"repo_ref":` + ref + `,"graph_config_path":` + file + `}}`
	}
	building := func(id, ref, file string) string {
		return strings.Replace(revision(id, ref, file), "DEPLOYED", "BUILDING", 1)
	}
	for name, row := range map[string]struct {
		script func(h *history)
		fails  string // pointer
	}{
		"what was sent, in its shortest form": {func(h *history) {
			h.plane(target.TheClient, "GET", path+"/"+two, "", 200, revision(two, `"main"`, `"agent.json"`))
		}, ""},
		"another value": {func(h *history) {
			h.plane(target.TheClient, "GET", path+"/"+two, "", 200, revision(two, `"next"`, `"agent.json"`))
		}, "/source_revision_config/repo_ref"},
		"null": {func(h *history) {
			h.plane(target.TheClient, "GET", path+"/"+two, "", 200, revision(two, `"main"`, `null`))
		}, "/source_revision_config/graph_config_path"},
		"in a list": {func(h *history) {
			h.plane(target.TheClient, "GET", path, "", 200, `{"resources":[`+revision(two, `"next"`, `"agent.json"`)+`],"offset":0}`)
		}, "/resources/*/source_revision_config/repo_ref"},
		"another commit in a list": {func(h *history) {
			of := func(commit string) string {
				return strings.Replace(revision(two, `"main"`, `"agent.json"`), `"repo_ref"`, `"repo_commit_sha":"`+commit+`","repo_ref"`, 1)
			}
			h.plane(target.TheClient, "GET", path+"/"+two, "", 200, of("0a1b2c3d4e"))
			h.plane(target.TheClient, "GET", path, "", 200, `{"resources":[`+of("ffffffffff")+`],"offset":0}`)
		}, "/resources/*/source_revision_config/repo_commit_sha"},
		"the commit, shortened, or not known yet": {func(h *history) {
			for _, commit := range []string{"pending", "0a1b2c3d4e", "0A1B2C3", "pending"} {
				row := strings.Replace(revision(two, `"main"`, `"agent.json"`), `"repo_ref"`, `"repo_commit_sha":"`+commit+`","repo_ref"`, 1)
				h.plane(target.TheClient, "GET", path, "", 200, `{"resources":[`+row+`],"offset":0}`)
			}
		}, ""},
		"what was not sent appears later": {func(h *history) {
			h.plane(target.TheClient, "PATCH", "/v2/deployments/"+one, toNext, 200, patched)
			h.plane(target.TheClient, "GET", path+"/"+three, "", 200, revision(three, `"next"`, `null`))
			h.plane(target.TheClient, "GET", path+"/"+three, "", 200, revision(three, `"next"`, `"agent.json"`))
		}, ""},
		"what was not sent changes": {func(h *history) {
			h.plane(target.TheClient, "PATCH", "/v2/deployments/"+one, toNext, 200, patched)
			h.plane(target.TheClient, "GET", path+"/"+three, "", 200, revision(three, `"next"`, `"agent.json"`))
			h.plane(target.TheClient, "GET", path+"/"+three, "", 200, revision(three, `"next"`, `"other.json"`))
		}, "/source_revision_config/graph_config_path"},
		"what was not sent changes with the build": {func(h *history) {
			h.plane(target.TheClient, "PATCH", "/v2/deployments/"+one, toNext, 200, patched)
			h.plane(target.TheClient, "GET", path+"/"+three, "", 200, building(three, `"next"`, `"pending"`))
			h.plane(target.TheClient, "GET", path+"/"+three, "", 200, revision(three, `"next"`, `"agent.json"`))
		}, ""},
		"of an update": {func(h *history) {
			h.plane(target.TheClient, "PATCH", "/v2/deployments/"+one, toNext, 200, patched)
			h.plane(target.TheClient, "GET", path+"/"+three, "", 200, revision(three, `"main"`, `"agent.json"`))
		}, "/source_revision_config/repo_ref"},
		"of an update that names an earlier revision": {func(h *history) {
			h.plane(target.TheClient, "PATCH", "/v2/deployments/"+one, toNext, 200, `{"latest_revision_id":"`+two+`"}`)
			h.plane(target.TheClient, "GET", path+"/"+two, "", 200, revision(two, `"main"`, `"agent.json"`))
		}, ""},
		"of an update beside one without an answer": {func(h *history) {
			h.plane(target.TheClient, "PATCH", "/v2/deployments/"+one, whatever, 504, ``)
			h.plane(target.TheClient, "PATCH", "/v2/deployments/"+one, toNext, 200, patched)
			h.plane(target.TheClient, "GET", path+"/"+three, "", 200, revision(three, `"other"`, `"agent.json"`))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.created(create, two)
			row.script(h)
			_, o := h.judged(asSent)
			if row.fails == "" {
				assert.Nil(t, o)
				return
			}
			require.NotNil(t, o)
			assert.Equal(t, row.fails, o.Violations[0].Pointer)
		})
	}
}

func TestADeploymentShowsTheSourceOfItsLatestRevision(t *testing.T) {
	for name, row := range map[string]struct {
		config string
		fails  bool
	}{
		"of its latest revision":   {`{"repo_ref":"main","repo_commit_sha":"abc"}`, false},
		"without the commit":       {`{"repo_ref":"main","repo_commit_sha":null}`, false},
		"of another revision":      {`{"repo_ref":"next"}`, true},
		"another commit":           {`{"repo_ref":"main","repo_commit_sha":"def"}`, true},
		"null where one was sent":  {`{"repo_ref":null}`, true},
		"null where none was sent": {`{"repo_ref":"main","image_uri":null}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.created(`{"source_revision_config":{"repo_ref":"main"}}`, two)
			revision := func(status, commit string) {
				h.plane(target.TheClient, "GET", "/v2/deployments/"+one+"/revisions/"+two, "", 200,
					`{"id":"`+two+`","status":"`+status+`","source_revision_config":{"repo_ref":"main","repo_commit_sha":"`+commit+`"}}`)
			}
			deployment := func(config string) {
				h.plane(target.TheClient, "GET", "/v2/deployments/"+one, "", 200, `{"latest_revision_id":"`+two+`","source_revision_config":`+config+`}`)
			}
			revision("BUILDING", "pending")
			deployment(`{"repo_ref":"main","repo_commit_sha":"pending"}`)
			revision("DEPLOYED", "abc")
			deployment(row.config)
			judged, o := h.judged(asNamed)
			assert.Positive(t, judged)
			assert.Equal(t, row.fails, o != nil)
		})
	}
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
	const secret, echoed = "a secret of many bytes", "what both of them sent"
	for name, row := range map[string]struct {
		ask    func(h *history, bob, nobody target.Caller)
		judged bool
		fails  bool
	}{
		"a text": {func(h *history, bob, _ target.Caller) {
			h.agent(bob, "GET", "/threads/b-thread/state", "", 200, `{"x":["`+secret+`!"]}`)
		}, true, true},
		"a short id as thread_id": {func(h *history, bob, _ target.Caller) {
			h.agent(bob, "GET", "/threads", "", 200, `[{"thread_id":"7"}]`)
		}, true, true},
		"a short id by chance": {func(h *history, bob, _ target.Caller) {
			h.agent(bob, "GET", "/threads", "", 200, `[{"thread_id":"17","version":"7","text":""}]`)
		}, true, false},
		"a short id of both": {func(h *history, bob, _ target.Caller) {
			h.agent(bob, "POST", "/threads", `{}`, 200, `{"thread_id":"7"}`)
			h.agent(bob, "GET", "/threads", "", 200, `[{"thread_id":"7"}]`)
		}, true, false},
		"an id that the other has at another agent server": {func(h *history, bob, _ target.Caller) {
			const elsewhere = "http://agent.test/elsewhere"
			h.sees(h.target.ToAgent(elsewhere, bob, "POST", "/threads", []byte(`{}`)), 200, `{"thread_id":"thread-of-many-bytes"}`)
			h.sees(h.target.ToAgent(elsewhere, bob, "GET", "/threads", nil), 200, `[{"thread_id":"thread-of-many-bytes"}]`)
			h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, `{"thread_id":"thread-of-many-bytes"}`)
		}, true, false},
		"a long id": {func(h *history, bob, _ target.Caller) {
			h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, `{"thread_id":"thread-of-many-bytes"}`)
			h.agent(bob, "GET", "/threads", "", 200, `[{"name":"of thread-of-many-bytes"}]`)
		}, true, true},
		"what the request carried": {func(h *history, bob, _ target.Caller) {
			h.agent(bob, "GET", "/threads/7/state", "", 404, `{"thread_id":"7"}`)
		}, true, false},
		"the token of the other": {func(h *history, bob, _ target.Caller) {
			h.agent(bob, "GET", "/threads/b-thread/state", "", 200, `{"x":"token-of-ada"}`)
		}, true, true},
		"the token of the other in base64": {func(h *history, bob, _ target.Caller) {
			h.agent(bob, "GET", "/threads/b-thread/state", "", 200, `{"x":"dG9rZW4tb2YtYWRh"}`)
		}, true, true},
		"the token of oneself": {func(h *history, bob, _ target.Caller) {
			h.agent(bob, "GET", "/threads/b-thread/state", "", 200, `{"x":"token-of-bob"}`)
		}, true, false},
		"the identity of the other": {func(h *history, bob, _ target.Caller) {
			h.agent(bob, "GET", "/threads/b-thread/state", "", 200, `{"metadata":{"owner":"ada"}}`)
		}, true, true},
		"a word that is an identity too": {func(h *history, bob, _ target.Caller) {
			h.agent(bob, "GET", "/threads/b-thread/state", "", 200, `{"language":"ada"}`)
		}, true, false},
		"what both have sent": {func(h *history, bob, _ target.Caller) {
			h.agent(bob, "GET", "/threads/b-thread/state", "", 200, `{"x":"`+echoed+`"}`)
		}, true, false},
		"a refusal of a caller without credentials": {func(h *history, _, nobody target.Caller) {
			h.agent(nobody, "GET", "/threads", "", 401, `{"detail":"not for you, but: `+secret+`"}`)
		}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			bob, err := h.target.Caller(target.TheOtherUser)
			require.NoError(t, err)
			nobody, err := h.target.Caller(target.NoCredentials)
			require.NoError(t, err)
			h.agent(bob, "POST", "/threads/b-thread/runs", says(echoed, ""), 200, `{"run_id":""}`)
			row.ask(h, bob, nobody) // before the other has sent it: what is whose is known at the end
			h.agent(bob, "POST", "/threads", `{}`, 200, `{"thread_id":""}`)
			h.agent(h.target.Owner(), "GET", "/threads", "", 200, `[{"thread_id":"","run_id":null}]`)
			h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, `{"thread_id":"7"}`)
			h.agent(h.target.Owner(), "POST", "/threads/7/runs", says(secret, ""), 200, `{"run_id":"8"}`)
			h.agent(h.target.Owner(), "POST", "/threads/7/runs", says(echoed, ""), 200, `{"run_id":"9"}`)
			judged, o := h.judged(apart)
			assert.Equal(t, row.judged, judged > 0)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}

// TestAHeaderThatUsersShareIsNoSecretOfOne has both users send the same organization; their tokens are parts of another header.
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

func TestNothingOfARolledBackRunIsInALaterAnswer(t *testing.T) {
	const (
		waiting = "wait=60000 the words of the prior run"
		run     = "/threads/t/runs"
		rolls   = `,"multitask_strategy":"rollback"`
	)
	for name, row := range map[string]struct {
		prior, strategy string
		joined          bool
		answer          string
		judged, fails   bool
	}{
		"its text":                   {waiting, rolls, true, `{"values":{"messages":[{"content":"` + waiting + `"}]}}`, true, true},
		"its id":                     {waiting, rolls, true, `{"run":"prior-run-of-many-bytes"}`, true, true},
		"nothing":                    {waiting, rolls, true, `{"values":{"messages":[]}}`, true, false},
		"it was not rolled back":     {waiting, "", true, `{"x":"` + waiting + `"}`, false, false},
		"it may have been completed": {"the words of the prior run", rolls, true, `{"x":"the words of the prior run"}`, false, false},
		"the new one may be running": {waiting, rolls, false, `{"x":"` + waiting + `"}`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			ada := h.target.Owner()
			h.agent(ada, "POST", run, says(row.prior, ""), 200, `{"run_id":"prior-run-of-many-bytes"}`)
			h.agent(ada, "POST", run, says("new", row.strategy), 200, `{"run_id":"new"}`)
			if row.joined {
				h.agent(ada, "GET", run+"/new/join", "", 200, `{}`)
			}
			h.agent(ada, "GET", "/threads/t/state", "", 200, row.answer)
			judged, o := h.judged(rolledBack)
			assert.Equal(t, row.judged, judged > 0)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}

func TestADeployedRevisionStaysDeployed(t *testing.T) {
	const revision = "/v2/deployments/" + one + "/revisions/" + two
	shows := func(h *history, status string) {
		h.plane(target.TheClient, "GET", revision, "", 200, `{"id":"`+two+`","status":"`+status+`"}`)
	}
	patch := func(h *history, status int) {
		h.plane(target.TheClient, "PATCH", "/v2/deployments/"+one, `{}`, status, `{}`)
	}
	for name, row := range map[string]struct {
		script func(h *history)
		fails  bool
	}{
		"it is DEPLOYED":                {func(h *history) { shows(h, "BUILDING"); shows(h, "DEPLOYED"); shows(h, "DEPLOYED") }, false},
		"it falls back":                 {func(h *history) { shows(h, "DEPLOYED"); shows(h, "DEPLOYING") }, true},
		"it cannot be told":             {func(h *history) { shows(h, "DEPLOYED"); shows(h, "UNKNOWN") }, false},
		"after an update":               {func(h *history) { shows(h, "DEPLOYED"); patch(h, 200); shows(h, "SKIPPED") }, false},
		"after an unanswered update":    {func(h *history) { shows(h, "DEPLOYED"); patch(h, 503); shows(h, "SKIPPED") }, false},
		"after a refused update":        {func(h *history) { shows(h, "DEPLOYED"); patch(h, 422); shows(h, "DEPLOYING") }, true},
		"a moment later, with replicas": {func(h *history) { h.target.Config.Patience = time.Minute; shows(h, "DEPLOYED"); shows(h, "DEPLOYING") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.created(`{}`, two)
			row.script(h)
			_, o := h.judged(staysDeployed)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}

func TestAnUpdateKeepsWhatItDoesNotName(t *testing.T) {
	const three = "33333333-3333-4333-8333-333333333333"
	for name, row := range map[string]struct {
		update, shown string
		unclear       bool
		fails         bool
	}{
		"kept":                                   {`{"source_revision_config":{"repo_ref":"next"}}`, `{"repo_ref":"next","graph_config_path":"agent.json"}`, false, false},
		"lost":                                   {`{"source_revision_config":{"repo_ref":"next"}}`, `{"repo_ref":"next","graph_config_path":null}`, false, true},
		"changed, named as null":                 {`{"source_revision_config":{"repo_ref":"next","graph_config_path":null}}`, `{"repo_ref":"next","graph_config_path":"b"}`, false, true},
		"named":                                  {`{"source_revision_config":{"graph_config_path":"b"}}`, `{"repo_ref":"main","graph_config_path":"b"}`, false, false},
		"after an update that names no revision": {`{"source_revision_config":{"repo_ref":"next"}}`, `{"repo_ref":"next","graph_config_path":"b"}`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.created(`{"source_revision_config":{"repo_ref":"main","graph_config_path":"agent.json"}}`, two)
			path := "/v2/deployments/" + one
			h.plane(target.TheClient, "GET", path+"/revisions/"+two, "", 200, `{"id":"`+two+`","source_revision_config":{"repo_ref":"main","graph_config_path":"agent.json"}}`)
			if row.unclear {
				h.plane(target.TheClient, "PATCH", path, `{"source_revision_config":{"graph_config_path":"b"}}`, 200, `{}`)
			}
			h.plane(target.TheClient, "PATCH", path, row.update, 200, `{"id":"`+one+`","latest_revision_id":"`+three+`"}`)
			h.plane(target.TheClient, "GET", path+"/revisions/"+three, "", 200, `{"id":"`+three+`","source_revision_config":`+row.shown+`}`)
			_, o := h.judged(asBefore)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}

func TestRefusalsHoldNoStackTrace(t *testing.T) {
	for text, is := range map[string]bool{
		`{"detail":"not found"}`:                                                                false,
		`{"detail":"look at http://docs.test/page:80 or at File 3"}`:                            false,
		`{"detail":"Traceback (most recent call last):\n  File \"/app/a.py\", line 3, in get"}`: true,
		`{"stack":"Error: no\n    at get (/app/runs.js:120:15)"}`:                               true,
		"java.lang.IllegalStateException: no\n\tat com.test.Runs.get(Runs.java:12)\n":           true,
		"panic: no\n\ngoroutine 7 [running]:\nmain.main()\n\t/app/main.go:12 +0x1d":             true,
		"app/runs.rb:12:in `get'":                                                               true,
	} {
		h := newHistory(t)
		h.plane(target.TheClient, "GET", "/v2/deployments/"+one, "", 404, text)
		_, o := h.judged(planeTraces)
		assert.Equal(t, is, o != nil, text)
	}
}

func TestTheIDOfARolledBackRunMayBeUsedAgain(t *testing.T) {
	const (
		run = "/threads/t/runs"
		id  = "run-of-many-bytes"
	)
	h := newHistory(t)
	ada := h.target.Owner()
	h.agent(ada, "POST", run, says("wait=60000 prior", ""), 200, `{"run_id":"`+id+`"}`)
	h.agent(ada, "POST", run, says("new", `,"multitask_strategy":"rollback"`), 200, `{"run_id":"`+id+`"}`)
	h.agent(ada, "GET", run+"/"+id+"/join", "", 200, `{}`)
	h.agent(ada, "GET", "/threads/t/state", "", 200, `{"run":"`+id+`"}`)
	judged, o := h.judged(rolledBack)
	assert.Positive(t, judged)
	assert.Nil(t, o)
}

func TestALeakHasThePlaceOfItsValue(t *testing.T) {
	answer := gjson.Parse(`{"values":{"messages":[{"content":"mine"},{"more/texts":["it says \"what is theirs\""]}]},"run":12345678901234}`)
	assert.Equal(t, "/values/messages/*/more~1texts/*", placeOf(answer, `"what is theirs"`))
	assert.Equal(t, "/run", placeOf(answer, "12345678901234"))
	assert.Empty(t, placeOf(answer, "what nobody says"))
	assert.Empty(t, placeOf(gjson.Parse(`"what is theirs"`), "what is theirs"), "all of the answer")
}
