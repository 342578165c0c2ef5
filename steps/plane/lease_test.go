package plane

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// TestWhoChangesADeploymentHoldsItAlone has scenarios change one deployment one after the other, whether or not they
// need it to be DEPLOYED. Another member of the pool is held beside it, and who gives up waiting takes nothing.
func TestWhoChangesADeploymentHoldsItAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(&target.Target{Config: &config.Config{}}, shared.NewMaker(t.Context()), time.Time{})
		fs := p.Fixtures
		for n, m := range fs.changing {
			d := &Deployment{ID: poolNames[n].purpose}
			for _, f := range []*Fixture{m.created, m.deployed} {
				f.make = func(context.Context) (*Deployment, error) { return d, nil }
			}
		}
		holders := make(chan string, 4)
		change := func(ctx context.Context, who string, deployed bool) {
			go func() {
				d, giveBack, err := p.Lease(ctx, deployed)
				if err != nil {
					return
				}
				holders <- who + " holds " + d.ID
				time.Sleep(time.Minute)
				giveBack()
			}()
			synctest.Wait()
		}
		change(t.Context(), "first", true)
		impatient, giveUp := context.WithTimeout(t.Context(), time.Second)
		defer giveUp()
		change(impatient, "who gives up", false)
		change(t.Context(), "second", false)
		other := &Allowance{Member: 1, Shares: []string{Changing}}
		change(other.Within(t.Context()), "third", true)
		require.Len(t, holders, 2)
		assert.Equal(t, "first holds changing", <-holders)
		assert.Equal(t, "third holds changing-second", <-holders)
		time.Sleep(59 * time.Second)
		synctest.Wait()
		require.Empty(t, holders)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Len(t, holders, 1, "the first one gave it back")
		assert.Equal(t, "second holds changing", <-holders)
		time.Sleep(time.Minute)
	})
}
