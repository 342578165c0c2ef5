package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/spec"
)

// TestSameStatus checks the headline by the statuses of the control plane and of the agent server.
func TestSameStatus(t *testing.T) {
	for name, c := range map[string]struct {
		plane, agent map[int]int
		want         string
	}{
		"no response":       {},
		"different halves":  {plane: map[int]int{401: 1}, agent: map[int]int{200: 1}},
		"all 404":           {plane: map[int]int{404: 1}, agent: map[int]int{404: 1}, want: "every response had status 404: check that http://plane (target) is the base URL, with its path prefix; agentconform doctor looks for it"},
		"all 200":           {plane: map[int]int{200: 9}, want: "every response had status 200: check that http://plane (target) is the base URL, with its path prefix; agentconform doctor looks for it"},
		"all 401":           {plane: map[int]int{401: 9}, want: "every response had status 401: check credentials and users"},
		"all 403":           {agent: map[int]int{403: 9}, want: "every response had status 403: check credentials and users"},
		"all 429":           {agent: map[int]int{429: 9}, want: "every response had status 429: check the target's rate limit and load"},
		"all 503":           {agent: map[int]int{503: 9}, want: "every response had status 503: check the target's rate limit and load"},
		"all 308":           {agent: map[int]int{308: 9}, want: "every response had status 308: set target to the URL that it redirects to"},
		"all 500":           {plane: map[int]int{500: 9}, agent: map[int]int{500: 9}, want: "every response had status 500"},
		"a half has 404":    {plane: map[int]int{404: 20}, agent: map[int]int{200: 9}, want: "every response of the control plane had status 404: check that http://plane is its base URL, with its path prefix; agentconform doctor looks for it"},
		"the other has 404": {plane: map[int]int{200: 9}, agent: map[int]int{404: 20}, want: "every response of the agent server had status 404: check that http://agent is its base URL, with its path prefix; agentconform doctor looks for it"},
		"a few 404":         {plane: map[int]int{404: 19}, agent: map[int]int{200: 9}},
		"404 and 401":       {plane: map[int]int{404: 20, 401: 1}, agent: map[int]int{200: 9}},
	} {
		assert.Equal(t, c.want, sameStatus([]half{{spec.ControlPlane, "http://plane", c.plane},
			{spec.AgentServer, "http://agent", c.agent}}), name)
	}
}
