package agentserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/store"
)

// A run writes until it is deleted, interrupted or has ended, whatever its script does later.
func TestARunThatHasEndedCannotWrite(t *testing.T) {
	s := newSite(t, appOf(t, map[string]string{"main.star": echo}), Options{}).server
	for name, end := range map[string]func(tables, Run) error{
		"deleted":                 func(tab tables, r Run) error { return tab.deleteRun(r) },
		"interrupted":             func(tab tables, r Run) error { return tab.move(r, stopped) },
		"deleted with its thread": func(tab tables, r Run) error { return tab.deleteThread(r.ThreadID) },
	} {
		r := Run{ID: store.NewID(), ThreadID: store.NewID(), Status: StatusPending}
		late := []Message{{"content": "late"}}
		require.NoError(t, s.update(func(tab tables) error {
			require.NoError(t, store.Put(tab.threads, r.ThreadID, Thread{ID: r.ThreadID}))
			require.NoError(t, store.Put(tab.runs, r.key(), r))
			require.NoError(t, tab.write(r, []Message{{"content": "early"}}), name)
			require.NoError(t, end(tab, r))
			assert.ErrorIs(t, tab.write(r, late), errGone, name)
			assert.ErrorIs(t, tab.move(r, ending{status: StatusSuccess, messages: late}), errGone, name)
			state, err := tab.state(r.ThreadID)
			require.NoError(t, err)
			if name == "interrupted" {
				assert.Equal(t, []Message{{"content": "early"}}, state)
			} else {
				assert.Empty(t, state, name)
			}
			return nil
		}))
	}
}
