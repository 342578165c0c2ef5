package steps

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

func TestServedByAgent(t *testing.T) {
	for name, c := range map[string]struct {
		caller string
		status int
		want   reports.Verdict // "": it passes
	}{
		"served":                        {theUser, http.StatusCreated, ""},
		"the user is refused":           {theUser, http.StatusUnauthorized, reports.Failed},
		"as the handler does":           {theUser, http.StatusTeapot, reports.Failed},
		"there is no such operation":    {theUser, http.StatusNotFound, reports.Blocked},
		"the operation is broken":       {theUser, http.StatusConflict, reports.Blocked},
		"a studio user is shown no run": {aStudioUser, http.StatusNotFound, reports.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{config: &config.Config{Agent: config.Agent{RejectedStatus: http.StatusTeapot}}}
			w := &World{run: r, answer: &client.Answer{Status: c.status}}
			w.agent, w.attempted = &agentServer{run: r}, c.caller
			err := w.schemeOpens(t.Context())
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			var o *outcome
			assert.ErrorAs(t, err, &o)
			assert.Equal(t, c.want, o.verdict)
		})
	}
}

func TestUnlike(t *testing.T) {
	for id, want := range map[string]string{
		"86c82b35-0e72-44b1-91fa-4a4d91cd9f90": "86c82b35-0e72-44b1-91fa-4a4d46fa4c45",
		"9000012":                              "4555567",
		"th:zzz":                               "th:zzzth:zzz",
		"01M7YVXTMSRZE4FYMXHZE4XH38":           "01M2YVXTMSRZB9CYMXHZB9XH83",
	} {
		assert.Equal(t, want, unlike(id))
	}
}
