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
		for n, changing := range fs.Changing.pool {
			d := &Deployment{ID: poolNames[n]}
			for _, f := range []*Fixture{changing, fs.Leased.pool[n]} {
				f.Lacks = func() error { return nil }
				f.make = func(context.Context) (*Deployment, error) { return d, nil }
			}
		}
		var holders []string
		change := func(ctx context.Context, who string, f *Fixture) {
			go func() {
				d, giveBack, err := p.Lease(ctx, f)
				if err != nil {
					return
				}
				holders = append(holders, who+" holds "+d.ID)
				time.Sleep(time.Minute)
				giveBack()
			}()
			synctest.Wait()
		}
		change(t.Context(), "first", fs.Leased)
		impatient, giveUp := context.WithTimeout(t.Context(), time.Second)
		defer giveUp()
		change(impatient, "who gives up", fs.Changing)
		change(t.Context(), "second", fs.Changing)
		change(WithMember(t.Context(), 1), "third", fs.Leased)
		require.Equal(t, []string{"first holds changing", "third holds changing-second"}, holders)
		time.Sleep(59 * time.Second)
		require.Len(t, holders, 2)
		time.Sleep(2 * time.Second)
		require.Len(t, holders, 3, "the first one gave it back")
		assert.Equal(t, "second holds changing", holders[2])
		time.Sleep(time.Minute)
	})
}
