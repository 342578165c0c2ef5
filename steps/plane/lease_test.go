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

// TestLeaseIsExclusive checks that scenarios get the same member of the pool one after the other, DEPLOYED or not.
// Another member is independent of it, and a scenario that stops waiting gets none.
func TestLeaseIsExclusive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(&target.Target{Config: &config.Config{}}, shared.NewMaker(t.Context()), time.Time{})
		for n, m := range p.Fixtures.changing {
			d := &Deployment{ID: poolNames[n].purpose}
			for _, f := range []*Fixture{m.created, m.deployed} {
				f.make = func(context.Context) (*Deployment, error) { return d, nil }
			}
		}
		holders := make(chan string, 4)
		lease := func(ctx context.Context, scenario string, deployed bool) {
			go func() {
				d, giveBack, err := p.Lease(ctx, deployed)
				if err != nil {
					return
				}
				holders <- scenario + " holds " + d.ID
				time.Sleep(time.Minute)
				giveBack()
			}()
			synctest.Wait()
		}
		lease(t.Context(), "first", true)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		lease(short, "timed out", false)
		lease(t.Context(), "second", false)
		other := &Allowance{Member: 1, Shares: []string{Changing}}
		lease(other.Within(t.Context()), "third", true)
		require.Len(t, holders, 2)
		assert.Equal(t, "first holds changing", <-holders)
		assert.Equal(t, "third holds changing-second", <-holders)
		time.Sleep(59 * time.Second)
		synctest.Wait()
		require.Empty(t, holders)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Len(t, holders, 1, "the first scenario returned it")
		assert.Equal(t, "second holds changing", <-holders)
		time.Sleep(time.Minute)
	})
}
