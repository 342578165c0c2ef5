package story_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/reports/story"
)

// TestFindings shows the stories of findings that the reference with faults has caused.
func TestFindings(t *testing.T) {
	data, err := os.ReadFile("testdata/findings.json")
	require.NoError(t, err)
	var r reports.Result
	require.NoError(t, json.Unmarshal(data, &r))
	var b strings.Builder
	for f := range reports.Each(r.Findings) {
		fmt.Fprintf(&b, "%s %s\n%s\n", f.Requirement, f.Summary, text(story.Of(&r, f)))
	}
	reporttest.Golden(t, "stories.txt", []byte(b.String()))
}

// text returns a story as a page may show it.
func text(s story.Story) string {
	var b strings.Builder
	mark := func(wrong bool) string {
		if wrong {
			return "✗"
		}
		return " "
	}
	for _, step := range s.Steps {
		fmt.Fprintf(&b, "%s %d. %s", mark(step.Wrong), step.Number, step.Text)
		if step.Repeat > 1 {
			fmt.Fprintf(&b, " (%d requests)", step.Repeat)
		}
		fmt.Fprintf(&b, "\n       %s  %d\n", step.Request, step.Status)
	}
	for _, u := range s.Users {
		fmt.Fprintf(&b, "     %s is %s\n", u.Name, u.Key)
	}
	for _, m := range s.Messages {
		note := m.Note
		if m.Missing {
			note = "missing"
		}
		fmt.Fprintf(&b, "   %s %s | %s | %s | %s\n", mark(m.Wrong), m.Run, note, m.Type, m.Text)
	}
	for _, i := range s.Items {
		fmt.Fprintf(&b, "   %s %s %s | %s | %s\n", mark(i.Wrong), i.Name, i.ID, i.Details, i.Note)
	}
	if f := s.Field; f != nil {
		fmt.Fprintf(&b, "   ✗ %s: %s, before (step %d, sent: %t): %s\n", f.Name, f.After, f.Step, f.Sent, f.Before)
	}
	return b.String()
}

const base = "http://127.0.0.1:8123"

// exchange returns an exchange with the credentials of a user, or of the control plane if user is negative.
func exchange(operation, method, path, body string, status int, response string, user int) reports.Exchange {
	header, value := "Authorization", fmt.Sprintf("Bearer $AGENTCONFORM_USERS_%d_TOKEN", user)
	if user < 0 {
		header, value = "X-Api-Key", "$AGENTCONFORM_CREDENTIALS_API_KEY"
	}
	return reports.Exchange{
		Operation: operation, Method: method, URL: base + path, Status: status, Scenario: "a.feature:1 name",
		Request: reports.Message{
			Body: body, Headers: map[string][]string{header: {value}}, Secrets: []reports.SecretPlace{{Header: header}},
		},
		Response: reports.Message{Body: response},
	}
}

// storyOf returns the story of a finding that the last exchange shows.
func storyOf(pointer string, exchanges ...reports.Exchange) story.Story {
	r := reports.Result{Target: reports.Target{ControlPlane: base}, Exchanges: reports.Record(nil, exchanges...)}
	f := reports.Finding{Exchange: len(exchanges), Pointer: pointer}
	for _, x := range r.Exchanges {
		f.Exchanges = append(f.Exchanges, reports.Link{Exchange: x.ID, Part: reports.Act})
	}
	return story.Of(&r, &f)
}

// TestSentences checks the sentence of one request.
func TestSentences(t *testing.T) {
	const id = "0a1b2c3d-4e5f-4000-8000-00000000abcd"
	get := func(operation, path string) reports.Exchange {
		return exchange(operation, "GET", path, "", 200, `{}`, 0)
	}
	post := func(body string) reports.Exchange {
		return exchange("create-run", "POST", "/threads/"+id+"/runs", body, 200, `{"run_id":"r1"}`, 0)
	}
	patch := func(body string) reports.Exchange {
		return exchange("update-deployment", "PATCH", "/v2/deployments/"+id, body, 200, `{}`, -1)
	}
	with := func(header, value string, secret bool) reports.Exchange {
		x := get("get-state", "/threads/"+id+"/state")
		x.Request.Headers, x.Request.Secrets = map[string][]string{header: {value}}, nil
		if secret {
			x.Request.Secrets = []reports.SecretPlace{{Header: header}}
		}
		return x
	}
	failed := post(`{"input":{"messages":[]}}`)
	failed.Status = 500
	cut := func(body string) reports.Exchange {
		x := get("list-threads", "/threads")
		x.Response.Body, x.Response.Size = body, 20_000
		return x
	}
	for _, c := range []struct {
		name, want string
		exchange   reports.Exchange
	}{
		{"an object that no response contains", "Read run …abcd", get("get-run", "/threads/t/runs/"+id)},
		{"an id in another form", "Read run {…abcd}", get("get-run", "/threads/t/runs/%7B"+id+"%7D")},
		{"no operation", "Send GET /threads/…abcd/STATE?a=b", get("", "/threads/"+id+"/STATE?a=b")},
		{"parameters", "List the revisions with limit=1 0 and offset=2: 0 revisions",
			get("list-revisions", "/v2/deployments/"+id+"/revisions?limit=1%200&offset=2")},
		{"a list that was cut", "List the threads: more than 2 threads", cut(`[{"a":"b"},{"a":{"b":[1]}},{"a`)},
		{"a list that was cut in its first item", "List the threads", cut(`[{"a":`)},
		{"a run with a strategy that takes time", "Start run A with multitask_strategy enqueue, which takes 1.2 s",
			post(`{"input":{"messages":[{"content":"wait=1200 word"}]},"multitask_strategy":"enqueue"}`)},
		{"an input that is not an object", "Start run A with the input [1,2]", post(`{"input":[1,2]}`)},
		{"a refused run", `Start a run with the input {"messages":[]}`, failed},
		{"an update", `Update deployment …abcd: repo_ref "main", build_on_push false`,
			patch(`{"source_revision_config":{"repo_ref":"main"},"source_config":{"build_on_push":false}}`)},
		{"an update that is not an object", "Update deployment …abcd with the body [1]", patch(`[1]`)},
		{"no credentials", "Read the state of thread …abcd without credentials", with("Accept", "*/*", false)},
		{"another header", "Read the state of thread …abcd without credentials and with the header Cookie",
			with("Cookie", "a=b", false)},
		{"an unknown token", "Read the state of thread …abcd with unknown credentials", with("Authorization", "Bearer x", false)},
		{"an empty token", "Read the state of thread …abcd with empty credentials", with("Authorization", "Bearer ", false)},
		{"a changed token", "Read the state of thread …abcd with changed credentials",
			with("Authorization", "Bearer ${AGENTCONFORM_USERS_0_TOKEN}x", true)},
		{"a name of a variable that is not a secret", "Read the state of thread …abcd with unknown credentials",
			with("Authorization", "Bearer $AGENTCONFORM_USERS_0_TOKEN", false)},
		{"another key", "Read the state of thread …abcd with the credentials agent.blocked",
			with("Authorization", "Bearer $AGENTCONFORM_AGENT_BLOCKED_TOKEN", true)},
	} {
		s := storyOf("", c.exchange)
		require.Len(t, s.Steps, 1, c.name)
		assert.Equal(t, c.want, s.Steps[0].Text, c.name)
		assert.True(t, s.Steps[0].Wrong, c.name)
	}
}

// TestOperations checks that each operation of the contract has a sentence.
func TestOperations(t *testing.T) {
	for _, file := range []string{"control-plane.yaml", "agent-server.yaml"} {
		document, err := os.ReadFile("../../spec/" + file)
		require.NoError(t, err)
		operations := regexp.MustCompile(`operationId: (\S+)`).FindAllStringSubmatch(string(document), -1)
		require.NotEmpty(t, operations)
		for _, o := range operations {
			s := storyOf("", exchange(o[1], "GET", "/x", "", 200, "{}", 0))
			assert.NotContains(t, s.Steps[0].Text, "Send ", o[1])
		}
	}
}

// TestSteps checks which requests become one step.
func TestSteps(t *testing.T) {
	poll := exchange("list-threads", "GET", "/threads", "", 200, `[]`, 0)
	created := func(i int) reports.Exchange {
		return exchange("create-thread", "POST", "/threads", "{}", 200, fmt.Sprintf(`{"thread_id":"t%d"}`, i), 1)
	}
	failed := poll
	failed.Status = 500
	steps := func(exchanges ...reports.Exchange) (all []string) {
		for _, s := range storyOf("", exchanges...).Steps {
			all = append(all, fmt.Sprintf("%s x%d", s.Text, s.Repeat))
		}
		return all
	}
	assert.Equal(t, []string{"List the threads: 0 threads x3", "List the threads: 0 threads x1"}, steps(poll, poll, poll, poll),
		"the wrong response is a step of its own")
	assert.Equal(t, []string{"List the threads: 0 threads x1", "List the threads x1", "List the threads: 0 threads x1"},
		steps(poll, failed, poll), "another status")
	assert.Equal(t, []string{"Create 5 threads as Bob x5", "List the threads as Alice: 0 threads x1"},
		steps(created(1), created(2), created(3), created(4), created(5), poll))
	assert.Equal(t, []string{"Create 3 threads as Bob x3", "List the threads as Alice: 0 threads x3", "List the threads as Alice: 0 threads x1"},
		steps(created(1), poll, created(2), poll, created(3), poll, poll), "pairs")
}

// TestWaits checks that the story says when a wait returned, which was sent before other requests.
func TestWaits(t *testing.T) {
	run := exchange("create-run", "POST", "/threads/t/runs", "{}", 200, `{"run_id":"r"}`, 0)
	join := exchange("join-run", "GET", "/threads/t/runs/r/join", "", 200, "{}", 0)
	state := exchange("get-state", "GET", "/threads/t/state", "", 500, "{}", 0)
	join.AtMS, join.MS, state.AtMS = 10, 400, 100
	texts := func(exchanges ...reports.Exchange) (all []string) {
		for _, s := range storyOf("", exchanges...).Steps {
			all = append(all, s.Text)
		}
		return all
	}
	assert.Equal(t, []string{"Start run A", "Wait for run A (it returns after step 3)", "Read the state of thread t"},
		texts(run, join, state))
	state.AtMS = 410
	assert.Equal(t, []string{"Start run A", "Wait for run A", "Read the state of thread t"}, texts(run, join, state))
}

// TestHostileResults checks that a story of a forged result is short and harmless.
func TestHostileResults(t *testing.T) {
	assert.Empty(t, story.Of(&reports.Result{}, &reports.Finding{Exchange: 7}).Steps)
	deep := strings.Repeat("[", 20_000)
	for _, body := range []string{
		"", deep, `{"values":{"messages":"x"}}`, `{"values":{"messages":[1,{},{"content":{"a":"\u202e"},"type":"\u001b[2J"}]}}`,
		`{"resources":[null,{"id":1},{"id":"\u001b[2J"}],"latest_revision_id":"\u202e"}`, `[{"thread_id":"<script>"}]`, "\xff",
	} {
		for _, operation := range []string{"get-state", "join-run", "list-revisions", "list-threads", "get-deployment", "create-run"} {
			for _, pointer := range []string{"", "/", "/values/messages", "/values/messages/99999999999999999999", "/resources/1/id"} {
				s := storyOf(pointer, exchange(operation, "GET", "/threads/\x1b[2J/runs?"+body, body, 200, body, 0))
				shown := fmt.Sprint(s)
				assert.Less(t, len(shown), 8000)
				assert.Equal(t, safe.Line(shown), shown, "%s %s", operation, body)
			}
		}
	}
}

// TestUserNames checks that users have the names of the configuration, or else names that it does not use.
func TestUserNames(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{nil, []string{"Alice", "Bob"}},
		{[]string{"ada", "bob"}, []string{"ada", "bob"}},
		{[]string{"", "Alice"}, []string{"user 1", "Alice"}},
	} {
		r := reports.Result{Target: reports.Target{ControlPlane: base, Users: c.names}, Exchanges: reports.Record(nil,
			exchange("create-thread", "POST", "/threads", "{}", 200, `{"thread_id":"t"}`, 0),
			exchange("get-thread", "GET", "/threads/t", "", 200, `{"thread_id":"t"}`, 1))}
		f := reports.Finding{Exchange: 2, Exchanges: []reports.Link{{Exchange: 1}, {Exchange: 2}}}
		s := story.Of(&r, &f)
		assert.Equal(t, []story.User{{Name: c.want[0], Key: "users.0"}, {Name: c.want[1], Key: "users.1"}}, s.Users)
		assert.Equal(t, "Read the thread as "+c.want[1], s.Steps[1].Text)
	}
}
