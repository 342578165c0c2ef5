package steps_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/target"
)

// runsAnswer answers the creation of each run that is meant.
func runsAnswer(meant func(*http.Request) bool, status int, body string) func(*proxy, http.Handler) http.Handler {
	return when(func(r *http.Request) bool { return at("POST", "/runs")(r) && meant(r) }, func(_ *proxy, _ http.Handler, w http.ResponseWriter, _ *http.Request) {
		a := httptest.NewRecorder()
		a.Header().Set("Content-Type", "application/json")
		a.WriteHeader(status)
		_, _ = a.WriteString(body)
		send(w, a)
	})
}

// refusedWithout answers all refusals of runs, but those of requests with a mistake, in one way.
func refusedWithout(status int, body string) func(*proxy, http.Handler) http.Handler {
	return when(at("POST", "/runs"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
		a := record(next, r)
		if a.Code == http.StatusNotFound {
			a.Code = status
			a.Body.Reset()
			_, _ = a.WriteString(body)
		}
		send(w, a)
	})
}

// TestAssistantThatIsNotKnown tells a wrong assistant_id from a server that accepts no run.
func TestAssistantThatIsNotKnown(t *testing.T) {
	t.Parallel()
	everyRun := func(*http.Request) bool { return true }
	for _, c := range []struct {
		name      string
		assistant string
		layer     func(*proxy, http.Handler) http.Handler
		blocked   bool // by assistant_id; else AS-RUN-1 fails
	}{
		{name: "not known, and not named in the answer", assistant: "nobody", blocked: true},
		{name: "not known, and named in the answer", assistant: "nobody", blocked: true, layer: namesAssistant},
		{name: "not known, and each refusal has an id", assistant: "nobody", blocked: true, layer: numbersRefusals},
		{name: "every run is refused with 404 and an id", layer: layers(numbersRefusals, runsAnswer(everyRun, http.StatusNotFound, `{"detail":"Not Found"}`))},
		{name: "every run is refused with 404", layer: runsAnswer(everyRun, http.StatusNotFound, `{"detail":"Not Found"}`)},
		{name: "every run is refused with 422", layer: runsAnswer(everyRun, http.StatusUnprocessableEntity, `{"detail":"no"}`)},
		{name: "every run is answered with 500", layer: runsAnswer(everyRun, http.StatusInternalServerError, `{}`)},
		{name: "unknown assistants and threads look alike", assistant: "nobody", layer: refusedWithout(http.StatusNotFound, `{"detail":"Not Found"}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := startIndependent(t, independent.Options{})
			cfg := agentConfig(t, s, c.layer)
			if c.assistant != "" {
				cfg.AssistantID = c.assistant
			}
			res := judge(t, cfg, func(o *steps.Options) {
				o.Select.Only = []string{"AS-RUN-1", "AS-RUN-2", "AS-STATE-1", "AS-ROLLBACK-2"}
			})
			for _, q := range res.Requirements {
				switch {
				case c.blocked:
					assert.Equal(t, reports.Blocked, q.Verdict, "%s: %s", q.ID, q.Reason)
					assert.Contains(t, q.BlockedBy, reports.Blocker{Kind: reports.ByKey, Name: "assistant_id"}, q.ID)
				case q.ID == "AS-RUN-1":
					assert.Equal(t, reports.Failed, q.Verdict, "%s: %s", q.ID, q.Reason)
				default:
					assert.NotContains(t, q.BlockedBy, reports.Blocker{Kind: reports.ByKey, Name: "assistant_id"}, q.ID)
				}
			}
		})
	}
}

// namesAssistant has the refusal of a run name the assistant.
func namesAssistant(_ *proxy, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !at("POST", "/runs")(r) {
			next.ServeHTTP(w, r)
			return
		}
		sent := readBody(r)
		a := record(next, r)
		if a.Code == http.StatusNotFound {
			a.Body.Reset()
			_, _ = a.WriteString(`{"detail":"unknown: ` + gjson.GetBytes(sent, "assistant_id").String() + `"}`)
		}
		send(w, a)
	})
}

// numbersRefusals gives each refusal of a run a new id.
func numbersRefusals(_ *proxy, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !at("POST", "/runs")(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := record(next, r)
		if a.Code == http.StatusNotFound {
			body := strings.TrimSuffix(strings.TrimSpace(a.Body.String()), "}") + `,"request_id":"` + target.UnknownID() + `"}`
			a.Body.Reset()
			_, _ = a.WriteString(body)
		}
		send(w, a)
	})
}

// emptyState shows no message of any thread.
var emptyState = when(at("GET", "/state"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	changeMessages(w, record(next, r), func([]json.RawMessage) []json.RawMessage { return nil })
})

// TestJoinOfARunThatShowsNothing joins a run whose thread never shows a message: the suite judges the join, and makes no mistake.
func TestJoinOfARunThatShowsNothing(t *testing.T) {
	t.Parallel()
	s := startIndependent(t, independent.Options{})
	for name, c := range map[string]struct {
		layer func(*proxy, http.Handler) http.Handler
		want  reports.Verdict
	}{
		"the join is answered": {emptyState, reports.Passed},
		// nobody can tell it from a server with a queue
		"the join hangs": {func(p *proxy, next http.Handler) http.Handler { return joinHangs(p, emptyState(p, next)) }, reports.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := judge(t, agentConfig(t, s, c.layer), func(o *steps.Options) { o.Select.Only = []string{"AS-RUN-5"} })
			q := res.Requirements[0]
			assert.Equal(t, c.want, q.Verdict, "%s %v", q.Reason, q.BlockedBy)
		})
	}
}
