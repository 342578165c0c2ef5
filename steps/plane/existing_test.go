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
	for path, may := range map[string]bool{DeploymentPath(id): false, RevisionPath(id, "x") + "/redeploy": false,
		DeploymentPath(target.UnknownID()): true, DeploymentsPath: true} {
		err := p.Existing.mayWrite(client.Request{Method: http.MethodPatch, Path: path})
		assert.Equal(t, may, err == nil, path)
	}
	assert.Equal(t, "it was there before the run", p.Remove(t.Context(), id))
	d := &Deployment{}
	body := `{"id":"` + id + `","latest_revision_id":"` + id + `"}`
	// There is no ledger here: entering the deployment would panic.
	assert.NoError(t, p.NoteCreated(t.Context(), d, &client.Answer{Status: http.StatusCreated, Body: []byte(body)}))
	assert.Equal(t, id, d.ID)
}
