package invariants

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/outcome"
)

// states finds responses that show a state which never existed (section 4). Within patience after a write a read may show
// the state before or after it, and at no time anything else.
type states struct {
	*refused // of the same record

	shown   map[*threadRun]time.Time        // when a state first contained the last message of a run that had ended
	threads map[string]map[string]time.Time // when a thread was created, by base and caller, and id
	removed map[string]bool                 // threads for which a DELETE was sent
	named   map[string]string               // the deployment whose creation named a revision, by revision
}

func newStates(r *refused) *states {
	return &states{refused: r, shown: map[*threadRun]time.Time{},
		threads: map[string]map[string]time.Time{}, removed: map[string]bool{}, named: map[string]string{}}
}

func callerKey(s *seen) string { return s.Base + " " + s.Caller.Name }

func (st *states) note(s *seen) {
	if s.Method == http.MethodDelete {
		st.removed[s.In("thread_id")] = true
	}
	if !s.ok() {
		return
	}
	switch s.Op.ID {
	case "create-thread":
		key := callerKey(s)
		if st.threads[key] == nil {
			st.threads[key] = map[string]time.Time{}
		}
		earliest(st.threads[key], s.answer.Get("thread_id").String(), s.Ended)
	case "create-deployment":
		st.named[strings.ToLower(s.answer.Get("latest_revision_id").Str)] = s.answer.Get("id").Str
	}
}

// holdsText reports whether a state has a message that contains a text.
func holdsText(s *seen, text string) bool {
	for _, m := range s.answer.Get("values.messages").Array() {
		if strings.Contains(m.Get("content").String(), text) {
			return true
		}
	}
	return false
}

// checkThreadState judges that a state still contains the last message of a completed run, if an earlier state has shown
// it. It judges only the latest run of a thread.
func (st *states) checkThreadState(t *tally, s *seen) {
	key := objectKey(s)
	if s.Op.ID != "get-state" || !s.ok() || s.Wrong || st.owners[key] != s.Caller.Name {
		return
	}
	t.judged++
	if at, is := st.changed[key]; is && at.Before(s.Ended) {
		return
	}
	g := st.latestRun(key, s.Ended)
	if g == nil || g.text == "" {
		return
	}
	ended := st.endOf(g, key)
	if ended.IsZero() || !ended.Add(st.revisions.patience).Before(s.Sent) {
		return
	}
	shown, isShown := st.shown[g]
	switch {
	case holdsText(s, g.text):
		first(&shown, s.Ended)
		st.shown[g] = shown
	case isShown && shown.Before(s.Sent):
		t.violated(s, outcome.MissingItem, "/values/messages", "The state lacks a completed run that it had shown before",
			fmt.Sprintf("the message %q of run %s", g.text, g.id), "a state without it")
	}
}

// latestRun returns the run of a thread that was requested last before a time, or nil.
func (st *states) latestRun(key string, before time.Time) *threadRun {
	var latest *threadRun
	for _, g := range st.runs[key] {
		if g.sent.Before(before) && (latest == nil || g.sent.After(latest.sent)) {
			latest = g
		}
	}
	return latest
}

// checkThreads judges first lists of threads: a list with fewer than [agent.LeastPage] threads contains all threads that
// the caller has created. Threads of a deployment that was updated may be gone, so that only the address under test counts.
func (st *states) checkThreads(t *tally, s *seen) {
	isList := s.Op.ID == "list-threads" && s.Query == "" || s.Op.ID == "search-threads" && isFirstSearch(s.request)
	if !isList || !s.ok() || s.Wrong || !s.Whole || !s.answer.IsArray() || s.Base != st.target.AgentAddress() {
		return
	}
	known := 0
	for id, created := range st.threads[callerKey(s)] {
		if created.Add(st.revisions.patience).Before(s.Sent) && !st.removed[id] {
			known++
		}
	}
	t.judged++
	want := min(known, agent.LeastPage)
	if rows := len(s.answer.Array()); rows < want {
		t.violated(s, outcome.MissingItem, "", "The list has fewer threads than the caller has created",
			fmt.Sprintf("at least %d threads", want), fmt.Sprintf("%d", rows))
	}
}

// isFirstSearch reports whether a search has no filter and begins with the first thread.
func isFirstSearch(request gjson.Result) bool {
	for name, value := range request.Map() {
		if name == "limit" && value.Num >= agent.LeastPage || name == "offset" && value.Num == 0 {
			continue
		}
		return false
	}
	return request.IsObject()
}

// checkDeployment judges that a deployment does not name the revision of another deployment as its latest.
func (st *states) checkDeployment(t *tally, s *seen) {
	if s.Op.ID != "get-deployment" || !s.ok() || s.Wrong {
		return
	}
	latest := s.answer.Get("latest_revision_id").Str
	t.judged++
	owner := st.named[strings.ToLower(latest)]
	if owner == "" || strings.EqualFold(owner, s.In("deployment_id")) {
		return
	}
	t.violated(s, outcome.WrongValue, "/latest_revision_id", "The deployment names a revision of another deployment as its latest",
		"a revision of deployment "+s.In("deployment_id"), fmt.Sprintf("%s, which deployment %s was created with", latest, owner))
}
