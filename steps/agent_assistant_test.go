package steps_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/target"
)

// refuses answers the creation of each run alike, or of those that are refused with 404 anyway.
func refuses(every bool, status int, body string) layer {
	return when(at("POST", "/runs"), func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		a := record(next, r)
		if every || a.Code == http.StatusNotFound {
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
	const notFound = `{"detail":"Not Found"}`
	for _, c := range []struct {
		name      string
		assistant string
		layer     layer
		blocked   bool // by assistant_id; else AS-RUN-1 fails
	}{
		{name: "not known, and not named in the answer", assistant: "nobody", blocked: true},
		{name: "not known, and named in the answer", assistant: "nobody", blocked: true, layer: namesAssistant},
		{name: "not known, and each refusal has an id", assistant: "nobody", blocked: true, layer: numbersRefusals},
		{name: "every run is refused with 404 and an id", layer: func(next http.Handler) http.Handler {
			return numbersRefusals(refuses(true, http.StatusNotFound, notFound)(next))
		}},
		{name: "every run is refused with 404", layer: refuses(true, http.StatusNotFound, notFound)},
		{name: "every run is refused with 422", layer: refuses(true, http.StatusUnprocessableEntity, `{"detail":"no"}`)},
		{name: "every run is answered with 500", layer: refuses(true, http.StatusInternalServerError, `{}`)},
		{name: "unknown assistants and threads look alike", assistant: "nobody",
			layer: refuses(false, http.StatusNotFound, notFound)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := agentConfig(t, c.layer)
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
func namesAssistant(next http.Handler) http.Handler {
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
func numbersRefusals(next http.Handler) http.Handler {
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

// TestJoinOfARunThatShowsNothing joins a run whose thread never shows a message: the suite judges the join, and makes no mistake.
func TestJoinOfARunThatShowsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		layer layer
		want  reports.Verdict
	}{
		"the join is answered": {emptyState, reports.Passed},
		// nobody can tell it from a server with a queue
		"the join hangs": {func(next http.Handler) http.Handler { return joinHangs(emptyState(next)) }, reports.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := judge(t, agentConfig(t, c.layer), func(o *steps.Options) { o.Select.Only = []string{"AS-RUN-5"} })
			q := res.Requirements[0]
			assert.Equal(t, c.want, q.Verdict, "%s %v", q.Reason, q.BlockedBy)
		})
	}
}
