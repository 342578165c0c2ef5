package agentserver

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

func TestServedByAgent(t *testing.T) {
	for name, c := range map[string]struct {
		caller string
		status int
		want   reports.Verdict // "": it passes
	}{
		"served":                        {target.TheUser, http.StatusCreated, ""},
		"the user is refused":           {target.TheUser, http.StatusUnauthorized, reports.Failed},
		"as the handler does":           {target.TheUser, http.StatusTeapot, reports.Failed},
		"there is no such operation":    {target.TheUser, http.StatusNotFound, reports.Blocked},
		"the operation is broken":       {target.TheUser, http.StatusConflict, reports.Blocked},
		"a studio user is shown no run": {"a studio user", http.StatusNotFound, reports.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			w := &World{scene: &common.Scene{Answer: &client.Answer{Status: c.status}},
				target: &target.Target{Config: &config.Config{Agent: config.Agent{RejectedStatus: http.StatusTeapot}}}}
			w.attempted = c.caller
			err := w.isServed(t.Context())
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			var o *outcome.Outcome
			assert.ErrorAs(t, err, &o)
			assert.Equal(t, c.want, o.Verdict)
		})
	}
}

func TestUnlike(t *testing.T) {
	for id, want := range map[string]string{
		"86c82b35-0e72-44b1-91fa-4a4d91cd9f90": "86c82b35-0e72-44b1-91fa-4a4d46fa4c45",
		"9000012":                              "4555567",
		"th:zzz":                               "th:zzzth:zzz",
		"01M7YVXTMSRZE4FYMXHZE4XH38":           "01M7YVXTMSRZE4FYMXHZB9XH83",
	} {
		assert.Equal(t, want, unlike(id))
	}
}
