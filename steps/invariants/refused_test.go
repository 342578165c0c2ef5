package invariants

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

const duringRun = `every valid request to "get-state" during a run returned 2xx`

const runBody = `{"assistant_id":"conformance","input":{"messages":[{"role":"user","content":"hello"}]}}`

var rollbackBody = `{"multitask_strategy":"rollback",` + runBody[1:]

// TestRefusedValidRequest judges histories that end with a refusal, one second after the previous exchange.
func TestRefusedValidRequest(t *testing.T) {
	run := func(h *history, method, path, body string, status int, response string) {
		h.agent(h.target.CallerWith("users.0"), method, path, body, status, response)
	}
	thread := func(h *history) { run(h, "POST", "/threads", `{}`, 200, `{"thread_id":"`+one+`"}`) }
	first := func(h *history) {
		thread(h)
		run(h, "POST", "/threads/"+one+"/runs", runBody, 200, `{"run_id":"`+two+`"}`)
	}
	held := func(h *history, text string) {
		thread(h)
		run(h, "POST", "/threads/"+one+"/runs", strings.Replace(runBody, "hello", text, 1), 200, `{"run_id":"`+two+`"}`)
	}
	completed := func(h *history) {
		first(h)
		run(h, "GET", "/threads/"+one+"/runs/"+two+"/join", "", 200, `{}`)
	}
	deployed := func(h *history, status string) {
		h.plane(target.TheClient, "POST", "/v2/deployments", `{"source_revision_config":{"repo_ref":"main"}}`, 201, `{"id":"`+one+`","latest_revision_id":"`+two+`"}`)
		h.plane(target.TheClient, "GET", "/v2/deployments/"+one+"/revisions/"+two, "", 200, `{"id":"`+two+`","status":"`+status+`"}`)
	}
	updated := func(h *history, who target.Sender) {
		h.plane(who, "PATCH", "/v2/deployments/"+one, `{"source_revision_config":{"repo_ref":"main"}}`, 409, `{}`)
	}
	for _, row := range []struct {
		name, step string
		history    func(h *history)
		fails      bool
	}{
		{"a run on an idle thread", `every valid request to "create-run" returned 2xx`, func(h *history) {
			completed(h)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 409, `{}`)
		}, true},
		{"a run while another one is in progress", `every valid request to "create-run" returned 2xx`, func(h *history) {
			first(h)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 409, `{}`)
		}, false},
		{"a join of a run that a later one may have replaced", `every valid request to "join-run" returned 2xx`, func(h *history) {
			held(h, "wait=60000")
			run(h, "GET", "/threads/"+one+"/runs/"+two+"/join", "", 200, `{}`)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 200, `{"run_id":"`+one+`"}`)
			run(h, "GET", "/threads/"+one+"/runs/"+two+"/join", "", 404, `{}`)
		}, false},
		{"a join of a run that had ended before a later one", `every valid request to "join-run" returned 2xx`, func(h *history) {
			completed(h)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 200, `{"run_id":"`+one+`"}`)
			run(h, "GET", "/threads/"+one+"/runs/"+two+"/join", "", 404, `{}`)
		}, true},
		{"a run after one without a response", `every valid request to "create-run" returned 2xx`, func(h *history) {
			completed(h)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 500, ``)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 409, `{}`)
		}, false},
		{"a run of an assistant that was never accepted", `every valid request to "create-run" returned 2xx`, func(h *history) {
			thread(h)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 404, `{}`)
		}, false},
		{"a run of an assistant that the thread accepted later", `every valid request to "create-run" returned 2xx`, func(h *history) {
			thread(h)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 404, `{}`)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 200, `{"run_id":"`+two+`"}`)
		}, true},
		{"a thread whose owner is refused with 401", `every valid request to "create-thread" returned 2xx`, func(h *history) {
			thread(h)
			run(h, "POST", "/threads", `{}`, 401, `{}`)
		}, false},
		{"a run with rollback", `every valid request to "create-run" returned 2xx`, func(h *history) {
			completed(h)
			run(h, "POST", "/threads/"+one+"/runs", rollbackBody, 409, `{}`)
		}, false},
		{"a run with rollback during a run", `every valid run with rollback returned 2xx`, func(h *history) {
			first(h)
			run(h, "POST", "/threads/"+one+"/runs", rollbackBody, 409, `{}`)
		}, true},
		{"a run with rollback at the same time as another", `every valid run with rollback returned 2xx`, func(h *history) {
			first(h)
			run(h, "POST", "/threads/"+one+"/runs", rollbackBody, 200, `{"run_id":"three"}`)
			h.at = h.at.Add(-time.Second)
			run(h, "POST", "/threads/"+one+"/runs", rollbackBody, 409, `{}`)
		}, false},
		{"a run of another user", `every valid request to "create-run" returned 2xx`, func(h *history) {
			completed(h)
			h.agent(h.target.CallerWith("users.1"), "POST", "/threads/"+one+"/runs", runBody, 404, `{}`)
		}, false},
		{"a run with a member that the interface does not name", `every valid request to "create-run" returned 2xx`, func(h *history) {
			completed(h)
			run(h, "POST", "/threads/"+one+"/runs", `{"stream":true,`+runBody[1:], 422, `{}`)
		}, false},
		{"a run that was retrieved before", `every valid request to "get-run" returned 2xx`, func(h *history) {
			completed(h)
			run(h, "GET", "/threads/"+one+"/runs/"+two, "", 200, `{"run_id":"`+two+`"}`)
			run(h, "GET", "/threads/"+one+"/runs/"+two, "", 404, `{}`)
		}, true},
		{"a run that nobody has retrieved", `every valid request to "get-run" returned 2xx`, func(h *history) {
			completed(h)
			run(h, "GET", "/threads/"+one+"/runs/"+two, "", 404, `{}`)
		}, false},
		{"a run of a thread that was deleted", `every valid request to "get-run" returned 2xx`, func(h *history) {
			completed(h)
			run(h, "GET", "/threads/"+one+"/runs/"+two, "", 200, `{"run_id":"`+two+`"}`)
			run(h, "DELETE", "/threads/"+one, "", 204, ``)
			run(h, "GET", "/threads/"+one+"/runs/"+two, "", 404, `{}`)
		}, false},
		{"a state that was read before", `every valid request to "get-state" returned 2xx`, func(h *history) {
			completed(h)
			run(h, "GET", "/threads/"+one+"/state", "", 200, `{}`)
			run(h, "GET", "/threads/"+one+"/state", "", 404, `{}`)
		}, true},
		{"a state during a run", `every valid request to "get-state" returned 2xx`, func(h *history) {
			thread(h)
			run(h, "GET", "/threads/"+one+"/state", "", 200, `{}`)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 200, `{"run_id":"`+two+`"}`)
			run(h, "GET", "/threads/"+one+"/state", "", 404, `{}`)
		}, false},
		{"a state of a thread whose first run is in progress", duringRun, func(h *history) {
			held(h, "wait=10000 hello")
			run(h, "GET", "/threads/"+one+"/state", "", 404, `{}`)
		}, true},
		{"a state within patience after the first run was accepted", duringRun, func(h *history) {
			h.target.Config.Patience = 2 * time.Second
			held(h, "wait=10000 hello")
			run(h, "GET", "/threads/"+one+"/state", "", 404, `{}`)
		}, false},
		{"a state of a thread whose second run is in progress", duringRun, func(h *history) {
			completed(h)
			run(h, "POST", "/threads/"+one+"/runs", strings.Replace(runBody, "hello", "wait=10000 hello", 1), 200, `{"run_id":"three"}`)
			run(h, "GET", "/threads/"+one+"/state", "", 404, `{}`)
		}, true},
		{"a state after the hold of a run", duringRun, func(h *history) {
			held(h, "wait=1050 hello")
			run(h, "GET", "/threads/"+one+"/state", "", 404, `{}`)
		}, false},
		{"a state of a run that raises an error", duringRun, func(h *history) {
			held(h, "wait=10000 fail hello")
			run(h, "GET", "/threads/"+one+"/state", "", 404, `{}`)
		}, false},
		{"a state of a run of another user", duringRun, func(h *history) {
			held(h, "wait=10000 hello")
			h.agent(h.target.CallerWith("users.1"), "GET", "/threads/"+one+"/state", "", 404, `{}`)
		}, false},
		{"a state of a run that was canceled", duringRun, func(h *history) {
			held(h, "wait=10000 hello")
			run(h, "DELETE", "/threads/"+one+"/runs/"+two, "", 204, ``)
			run(h, "GET", "/threads/"+one+"/state", "", 404, `{}`)
		}, false},
		{"a run after a rollback", `every valid request to "create-run" returned 2xx`, func(h *history) {
			first(h)
			run(h, "POST", "/threads/"+one+"/runs", rollbackBody, 200, `{"run_id":"three"}`)
			run(h, "GET", "/threads/"+one+"/runs/three/join", "", 200, `{}`)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 409, `{}`)
		}, true},
		{"a second thread", `every valid request to "create-thread" returned 2xx`, func(h *history) {
			thread(h)
			run(h, "POST", "/threads", `{}`, 422, `{}`)
		}, true},
		{"a revision that was retrieved before", `every valid request to "get-revision" returned 2xx`, func(h *history) {
			deployed(h, "DEPLOYED")
			deployed(h, "DEPLOYED")
			h.plane(target.TheClient, "GET", "/v2/deployments/"+one+"/revisions/"+two, "", 404, `{}`)
		}, true},
		{"a revision of an update under way", `every valid request to "get-revision" returned 2xx`, func(h *history) {
			deployed(h, "DEPLOYED")
			h.plane(target.TheClient, "PATCH", "/v2/deployments/"+one, `{"source_revision_config":{"repo_ref":"main"}}`, 500, ``)
			h.plane(target.TheClient, "GET", "/v2/deployments/"+one+"/revisions/"+two, "", 404, `{}`)
		}, false},
		{"an update after the build", `every valid update of "repo_ref" returned 2xx`, func(h *history) {
			deployed(h, "DEPLOYED")
			updated(h, target.TheClient)
		}, true},
		{"an update during the build", `every valid update of "repo_ref" returned 2xx`, func(h *history) {
			deployed(h, "BUILDING")
			updated(h, target.TheClient)
		}, false},
		{"an update without credentials", `every valid update of "repo_ref" returned 2xx`, func(h *history) {
			deployed(h, "DEPLOYED")
			updated(h, target.Nobody)
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHistory(t)
			row.history(h)
			_, o := h.judged(row.step)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}

// TestRefusedRequestsAreCounted judges a history with five refusals among eight valid requests. One refusal has a status
// that only a run with rollback gets. Another failure shows two of them. It covers the violation only if it shows all.
func TestRefusedRequestsAreCounted(t *testing.T) {
	h := newHistory(t)
	user := h.target.CallerWith("users.0")
	h.agent(user, "POST", "/threads", `{}`, 200, `{"thread_id":"`+one+`"}`)
	for i, status := range []int{200, 404, 200, 409, 404} {
		h.agent(user, "POST", "/threads/"+one+"/runs", runBody, status, `{"run_id":"`+strconv.Itoa(i)+`"}`)
		h.agent(user, "GET", "/threads/"+one+"/runs/"+strconv.Itoa(i)+"/join", "", 200, `{}`)
	}
	for i, status := range []int{200, 404, 422} {
		h.agent(user, "POST", "/threads/"+one+"/runs", rollbackBody, status, `{"run_id":"`+strconv.Itoa(5+i)+`"}`)
	}
	step := `every valid request to "create-run" returned 2xx`
	h.others = []Other{failing("AS-RUN-1", reports.Must, outcome.Violation{Exchange: 4, Repeats: []int{8}})}
	_, o := h.judged(step)
	require.NotNil(t, o)
	require.Len(t, o.Violations, 1)
	v := o.Violations[0]
	assert.Equal(t, "POST /threads/{id}/runs returns 404 or 409 without a run in progress", v.Summary)
	assert.Equal(t, "404 or 409 in 4 of 7 such requests", v.Actual)
	assert.Equal(t, []int{4, 8, 10, 13}, v.Shows())
	assert.Equal(t, 4, v.Count)

	h.others = append(h.others, failing("AS-RUN-1", reports.Must, v))
	_, o = h.judged(step)
	require.NotNil(t, o)
	assert.Equal(t, reports.Skipped, o.Verdict)
}

func TestFirstPage(t *testing.T) {
	for query, want := range map[string]int{"": 20, "limit=7": 7, "offset=0": 20, "limit=100&offset=0": 100,
		"offset=1": 0, "limit=101": 0, "limit=x": 0, "status=DEPLOYED": 0, "limit=1&limit=2": 0, "%zz": 0} {
		limit, is := firstPage(query)
		assert.Equal(t, want > 0, is, query)
		if is {
			assert.Equal(t, want, limit, query)
		}
	}
}

func TestListThatLacksRevisions(t *testing.T) {
	const step = "each list of revisions holds at least those that were known before"
	list := func(h *history, query, rows string) {
		r := h.target.ToControlPlane(target.TheClient, "GET", "/v2/deployments/"+one+"/revisions", nil)
		r.Query = query
		h.sees(r, 200, `{"resources":[`+rows+`],"offset":0}`)
	}
	h := newHistory(t)
	h.plane(target.TheClient, "POST", "/v2/deployments", `{}`, 201, `{"id":"`+one+`","latest_revision_id":"`+two+`"}`)
	list(h, "", `{"id":"`+two+`"}`)
	list(h, "status=DEPLOYED", "")
	judged, o := h.judged(step)
	assert.Equal(t, 1, judged, "a list with a filter is not judged")
	assert.Nil(t, o)
	list(h, "limit=100", "")
	_, o = h.judged(step)
	assert.NotNil(t, o)
	const listed = "each revision that was known before is in a list of its deployment"
	_, o = h.judged(listed)
	assert.Nil(t, o, "a list contains the revision")
	h.plane(target.TheClient, "PATCH", "/v2/deployments/"+one, `{}`, 200, `{"id":"`+one+`","latest_revision_id":"`+three+`"}`)
	list(h, "limit=1", `{"id":"`+two+`"}`)
	list(h, "status=DEPLOYED", `{"id":"`+three+`"}`)
	_, o = h.judged(listed)
	assert.Nil(t, o, "no list has room for it")
	list(h, "limit=2", `{"id":"`+two+`"}`)
	h.others = []Other{failing("CP-LIST-2", reports.Must, outcome.Violation{Exchange: 8, Pointer: "/resources"})}
	_, o = h.judged(listed)
	require.NotNil(t, o)
	assert.Equal(t, reports.Failed, o.Verdict)
	list(h, "limit=1&offset=1", `{"id":"`+three+`"}`)
	_, o = h.judged(listed)
	assert.Nil(t, o, "another page contains it")
}
