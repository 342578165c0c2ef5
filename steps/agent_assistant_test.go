package steps_test

import (
	"cmp"
	"net/http"
	"slices"
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
	for name, c := range map[string]struct {
		assistant string
		layer     layer
		blocked   bool // by assistant_id; else AS-RUN-1 fails
	}{
		"not known, and not named in the answer":    {"nobody", nil, true},
		"not known, and named in the answer":        {"nobody", namesAssistant, true},
		"not known, and each refusal has an id":     {"nobody", numbersRefusals, true},
		"every run is refused with 422":             {"", refuses(true, http.StatusUnprocessableEntity, `{"detail":"no"}`), false},
		"unknown assistants and threads look alike": {"nobody", refuses(false, http.StatusNotFound, notFound), false},
		"every run is refused with 404 and an id": {"", func(next http.Handler) http.Handler {
			return numbersRefusals(refuses(true, http.StatusNotFound, notFound)(next))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := agentConfig(t, c.layer)
			cfg.AssistantID = cmp.Or(c.assistant, cfg.AssistantID)
			res := judge(t, cfg, func(o *steps.Options) {
				o.Select.Only = []string{"AS-RUN-1", "AS-STATE-1", "AS-ROLLBACK-2"}
			})
			for _, q := range res.Requirements {
				is := slices.Contains(q.BlockedBy, reports.Blocker{Kind: reports.ByKey, Name: "assistant_id"})
				assert.Equal(t, c.blocked, is, "%s: %s", q.ID, q.Reason)
				if q.ID == "AS-RUN-1" && !c.blocked {
					assert.Equal(t, reports.Failed, q.Verdict, "%s: %s", q.ID, q.Reason)
				}
			}
		})
	}
}

// namesAssistant has the refusal of a run name the assistant.
var namesAssistant = when(at("POST", "/runs"), func(next http.Handler, w http.ResponseWriter, r *http.Request) {
	sent := readBody(r)
	a := record(next, r)
	if a.Code == http.StatusNotFound {
		a.Body.Reset()
		_, _ = a.WriteString(`{"detail":"unknown: ` + gjson.GetBytes(sent, "assistant_id").String() + `"}`)
	}
	send(w, a)
})

// numbersRefusals gives each refusal of a run a new id.
var numbersRefusals = when(at("POST", "/runs"), func(next http.Handler, w http.ResponseWriter, r *http.Request) {
	a := record(next, r)
	if a.Code == http.StatusNotFound {
		body := strings.TrimSuffix(strings.TrimSpace(a.Body.String()), "}") + `,"request_id":"` + target.UnknownID() + `"}`
		a.Body.Reset()
		_, _ = a.WriteString(body)
	}
	send(w, a)
})
