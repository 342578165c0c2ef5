package plane

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/target"
)

// TestAnUpdateToTheCurrentValueTellsNothingOfOthers wants the time of a real update to be whole where a target creates
// no revision for an unchanged value, and not the other way round.
func TestAnUpdateToTheCurrentValueTellsNothingOfOthers(t *testing.T) {
	c := config.Default()
	p := New(&target.Target{Config: &c}, nil, time.Time{})
	updated := &client.Answer{Status: http.StatusOK}
	p.noRevisionFor["repo_ref"+ToCurrentValue] = true
	assert.Equal(t, c.Timeouts.Request, p.appearing(updated, "repo_ref"))
	p.noRevisionFor["repo_ref"] = true
	assert.Less(t, p.appearing(updated, "repo_ref"), c.Timeouts.Request)
	delete(p.noRevisionFor, "repo_ref"+ToCurrentValue)
	assert.Less(t, p.appearing(updated, "repo_ref"+ToCurrentValue), c.Timeouts.Request)
}
