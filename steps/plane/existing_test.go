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

// TestWhatWasThereBeforeIsNotTouched holds what would write to it, note it as the run's own, or remove it.
func TestWhatWasThereBeforeIsNotTouched(t *testing.T) {
	const id = "cafcf774-6b38-49e6-a5ba-8b66183d94ad"
	p := New(&target.Target{Config: &config.Config{}}, nil, time.Time{})
	p.Existing.ids[id] = true
	assert.NoError(t, p.Existing.MayWrite(http.MethodGet, DeploymentPath(id)))
	assert.Error(t, p.Existing.MayWrite(http.MethodPatch, DeploymentPath(id)))
	assert.Error(t, p.Existing.MayWrite(http.MethodPost, RevisionPath(id, "x")+"/redeploy"))
	assert.NoError(t, p.Existing.MayWrite(http.MethodPatch, DeploymentPath(target.UnknownID())))
	assert.NoError(t, p.Existing.MayWrite(http.MethodPost, DeploymentsPath))
	assert.Equal(t, "it was there before the run", p.Remove(t.Context(), id))
	d := &Deployment{}
	body := `{"id":"` + id + `","latest_revision_id":"` + id + `"}`
	// There is no ledger here: entering the deployment would panic.
	assert.NoError(t, p.NoteCreated(t.Context(), d, &client.Answer{Status: http.StatusCreated, Body: []byte(body)}))
	assert.Equal(t, id, d.ID)
}
