package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/spec"
)

// TestSameResponses checks the headline by the statuses of the control plane and of the agent server, and by the number of
// HTML pages of each.
func TestSameResponses(t *testing.T) {
	type statuses map[int]int
	const base = "is the base URL, with its path prefix"
	const look = base + "; agentconform doctor looks for it"
	const log = "check the target's log; if a gateway or a proxy responds, start the server behind it, or correct "
	for name, c := range map[string]struct {
		plane, agent statuses
		pages        [2]int
		want         string
	}{
		"no response":       {},
		"different halves":  {plane: statuses{401: 1}, agent: statuses{200: 1}},
		"all 404":           {plane: statuses{404: 1}, agent: statuses{404: 1}, want: "every response had status 404: check that http://plane (target) " + look},
		"all 200":           {plane: statuses{200: 9}, want: "every response had status 200: check that http://plane (target) " + look},
		"all 401":           {plane: statuses{401: 9}, want: "every response had status 401: check credentials and users"},
		"all 403":           {agent: statuses{403: 9}, want: "every response had status 403: check credentials and users"},
		"all 429":           {agent: statuses{429: 9}, want: "every response had status 429: check the target's rate limit and load"},
		"all 503":           {agent: statuses{503: 9}, want: "every response had status 503: " + log + "agent_target"},
		"pages with 503":    {plane: statuses{503: 9}, pages: [2]int{9, 0}, want: "every response had status 503: " + log + "target"},
		"all 308":           {agent: statuses{308: 9}, want: "every response had status 308: set agent_target to the URL that it redirects to"},
		"pages with 302":    {plane: statuses{302: 9}, pages: [2]int{9, 0}, want: "every response had status 302: set target to the URL that it redirects to"},
		"all 500":           {plane: statuses{500: 9}, agent: statuses{500: 9}, want: "every response had status 500: " + log + "target"},
		"a half has 404":    {plane: statuses{404: 20}, agent: statuses{200: 9}, want: "every response of the control plane had status 404: check that http://plane (target) " + look},
		"the other has 404": {plane: statuses{200: 9}, agent: statuses{404: 20}, want: "every response of the agent server had status 404: check that http://agent (agent_target) " + look},
		"a half has 502":    {plane: statuses{200: 9}, agent: statuses{502: 20}, want: "every response of the agent server had status 502: " + log + "agent_target"},
		"a half has 200":    {plane: statuses{200: 20}, agent: statuses{200: 9, 401: 3}},
		"a few 404":         {plane: statuses{404: 19}, agent: statuses{200: 9}},
		"404 and 401":       {plane: statuses{404: 20, 401: 1}, agent: statuses{200: 9}},
		"pages":             {plane: statuses{200: 5, 404: 4}, pages: [2]int{5, 0}, want: "5 of 9 responses are HTML pages: check that http://plane (target) " + base},
		"pages of both": {plane: statuses{200: 9}, agent: statuses{200: 4, 404: 1}, pages: [2]int{9, 4},
			want: "13 of 14 responses are HTML pages: check that http://plane (target) and http://agent (agent_target) are the base URLs, with their path prefixes"},
		"pages with 503 of both": {plane: statuses{503: 9}, agent: statuses{503: 9}, pages: [2]int{9, 9},
			want: "every response had status 503: " + log + "target"},
		"half of pages":    {plane: statuses{200: 4, 404: 4}, pages: [2]int{4, 0}},
		"a half has pages": {plane: statuses{200: 90, 404: 3}, agent: statuses{200: 9}, pages: [2]int{0, 9}, want: "9 of 9 responses of the agent server are HTML pages: check that http://agent (agent_target) " + base},
	} {
		halves := []half{{spec.ControlPlane, "http://plane", c.plane, c.pages[0]}, {spec.AgentServer, "http://agent", c.agent, c.pages[1]}}
		assert.Equal(t, c.want, sameResponses(halves), name)
	}
}
