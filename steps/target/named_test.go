package target_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/target"
)

// TestRunOf finds the run in every name that it gives, replays included, and in no other name.
func TestRunOf(t *testing.T) {
	c := config.Default()
	for _, id := range []string{"0a1b2c3d", "0a1b2c3d-1", "0a1b2c3d-12"} { // the last two are replays
		on, err := target.New(target.Options{Config: &c, RunID: id})
		require.NoError(t, err)
		for _, purpose := range []string{"shared", "other-tenant"} {
			for range 2 {
				name := on.Name(purpose)
				assert.Equal(t, "0a1b2c3d", target.RunOf(name), name)
			}
		}
		require.NoError(t, on.Close())
	}
	for _, name := range []string{
		"", "agentconform-0a1b2c3d", "agentconform-0a1b2c3d-1", "agentconform-0a1b2c3d-1-2", "agentconform-0a1b2c3d-shared", "agentconform-0a1b2c3d-1-shared",
		"agentconform-0a1b2c3d-1-2-shared-1", "agentconform-0a1b2c3-shared-1", "agentconform-0A1B2C3D-shared-1", "agentconform-0a1b2c3d-shared-1\n", "x-agentconform-0a1b2c3d-shared-1",
	} {
		assert.Empty(t, target.RunOf(name), "%q", name)
	}
}
