package plane

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/target"
)

// TestUpdateToCurrentValueDoesNotShortenOthers checks how long an update waits for its revision. A target may create none
// for an unchanged value. That must not shorten the wait of an update to another value, but the reverse may.
func TestUpdateToCurrentValueDoesNotShortenOthers(t *testing.T) {
	c := config.Default()
	p := New(&target.Target{Config: &c}, nil, time.Time{})
	updated := &exchange.Response{Status: http.StatusOK}
	p.noRevisionFor["repo_ref"+ToCurrentValue] = true
	assert.Equal(t, c.Timeouts.Request, p.appearanceLimit(updated, "repo_ref"))
	p.noRevisionFor["repo_ref"] = true
	assert.Less(t, p.appearanceLimit(updated, "repo_ref"), c.Timeouts.Request)
	delete(p.noRevisionFor, "repo_ref"+ToCurrentValue)
	assert.Less(t, p.appearanceLimit(updated, "repo_ref"+ToCurrentValue), c.Timeouts.Request)
}
