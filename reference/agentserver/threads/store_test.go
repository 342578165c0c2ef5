package threads

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

func openStore(t *testing.T) (*Bolt, *bbolt.DB) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(t.TempDir(), "threads.db"), 0o600, &bbolt.Options{NoSync: true})
	require.NoError(t, err)
	s, err := Open(db, "agent")
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, db.Close())
	})
	return s, db
}

func newThread(t *testing.T, s Store) string {
	t.Helper()
	thread := Thread{ID: NewID(), CreatedAt: time.Now().UTC(), Metadata: map[string]any{}}
	require.NoError(t, s.CreateThread(t.Context(), thread))
	return thread.ID
}

func leave([]Run) Plan { return Plan{} }

func deleteAll(unfinished []Run) Plan { return Plan{Delete: idsOf(unfinished)} }

func interruptAll(unfinished []Run) Plan { return Plan{Interrupt: idsOf(unfinished)} }

func idsOf(runs []Run) (ids []string) {
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return ids
}

// begin adds a pending run and returns its id.
func begin(t *testing.T, s Store, thread string, strategy Strategy) string {
	t.Helper()
	r := Run{ID: NewID(), ThreadID: thread, Status: StatusPending}
	_, err := s.BeginRun(t.Context(), r, strategy)
	require.NoError(t, err)
	return r.ID
}

// start begins a run and marks it as running, with one message as its input.
func start(t *testing.T, s Store, thread, input string) string {
	t.Helper()
	run := begin(t, s, thread, leave)
	_, err := s.StartRun(t.Context(), thread, run, []Message{text(input)})
	require.NoError(t, err)
	return run
}

func text(content string) Message { return Message{ID: NewID(), Type: "human", Content: content} }

func contents(t *testing.T, s Store, thread string) []any {
	t.Helper()
	st, err := s.State(t.Context(), thread)
	require.NoError(t, err)
	out := []any{}
	for _, m := range st {
		out = append(out, m.Content)
	}
	return out
}

func statusOf(t *testing.T, s Store, thread string) string {
	t.Helper()
	th, err := s.Thread(t.Context(), thread)
	require.NoError(t, err)
	return th.Status
}

func TestABeginningRunDeletesWhatItsStrategySays(t *testing.T) {
	s, _ := openStore(t)
	ctx, thread := t.Context(), newThread(t, s)
	kept := start(t, s, thread, "kept")
	require.NoError(t, s.FinishRun(ctx, thread, kept, Ending{Status: StatusSuccess}))
	deleted := start(t, s, thread, "deleted")
	require.NoError(t, s.AppendMessages(ctx, thread, deleted, []Message{text("deleted too")}))

	next := begin(t, s, thread, deleteAll)

	assert.Equal(t, []any{"kept"}, contents(t, s, thread))
	_, err := s.Run(ctx, thread, deleted)
	assert.ErrorIs(t, err, ErrNotFound)
	runs, err := s.Runs(ctx, thread)
	require.NoError(t, err)
	assert.Equal(t, []string{next, kept}, idsOf(runs), "newest first")
}

func TestARunThatHasEndedCannotWrite(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s Store, thread, run string){
		"deleted":     func(t *testing.T, s Store, thread, run string) { begin(t, s, thread, deleteAll) },
		"interrupted": func(t *testing.T, s Store, thread, run string) { begin(t, s, thread, interruptAll) },
		"finished": func(t *testing.T, s Store, thread, run string) {
			require.NoError(t, s.FinishRun(t.Context(), thread, run, Ending{Status: StatusSuccess}))
		},
		"deleted alone": func(t *testing.T, s Store, thread, run string) {
			require.NoError(t, s.DeleteRun(t.Context(), thread, run))
		},
		"deleted with its thread": func(t *testing.T, s Store, thread, run string) {
			require.NoError(t, s.DeleteThread(t.Context(), thread))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := openStore(t)
			ctx, thread := t.Context(), newThread(t, s)
			run := start(t, s, thread, "input")
			require.NoError(t, s.AppendMessages(ctx, thread, run, nil), "it may write before")
			end(t, s, thread, run)
			late := []Message{text("late")}
			_, err := s.StartRun(ctx, thread, run, late)
			assert.ErrorIs(t, err, ErrGone)
			assert.ErrorIs(t, s.AppendMessages(ctx, thread, run, late), ErrGone)
			assert.ErrorIs(t, s.FinishRun(ctx, thread, run, Ending{Status: StatusSuccess, Messages: late}), ErrGone)
			if name != "deleted with its thread" {
				assert.NotContains(t, contents(t, s, thread), "late")
			}
		})
	}
}

func TestARefusedRunChangesNothing(t *testing.T) {
	s, _ := openStore(t)
	thread := newThread(t, s)
	run := start(t, s, thread, "input")
	var seen []string
	_, err := s.BeginRun(t.Context(), Run{ID: NewID(), ThreadID: thread, Status: StatusPending}, func(unfinished []Run) Plan {
		seen = idsOf(unfinished)
		return Plan{Refuse: "busy", Delete: seen}
	})
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "busy", refused.Reason)
	assert.Equal(t, []string{run}, seen)
	runs, err := s.Runs(t.Context(), thread)
	require.NoError(t, err)
	assert.Equal(t, []string{run}, idsOf(runs))
	assert.Equal(t, []any{"input"}, contents(t, s, thread))
}

func TestTheStatusOfAThreadFollowsItsRuns(t *testing.T) {
	s, _ := openStore(t)
	ctx, thread := t.Context(), newThread(t, s)
	other := newThread(t, s)
	assert.Equal(t, "idle", statusOf(t, s, thread))
	run := begin(t, s, thread, leave)
	assert.Equal(t, "busy", statusOf(t, s, thread))
	assert.Equal(t, "idle", statusOf(t, s, other))
	require.NoError(t, s.FinishRun(ctx, thread, run, Ending{Status: StatusError}))
	assert.Equal(t, "idle", statusOf(t, s, thread))
}

func TestThreadsAreListedNewestFirst(t *testing.T) {
	s, _ := openStore(t)
	var want []string
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 5 {
		th := Thread{ID: NewID(), CreatedAt: at.Add(time.Duration(i) * time.Second), Metadata: map[string]any{"even": i%2 == 0}}
		require.NoError(t, s.CreateThread(t.Context(), th))
		if i%2 == 0 {
			want = append([]string{th.ID}, want...)
		}
	}
	found, err := s.Threads(t.Context(), func(th Thread) bool { return th.Metadata["even"] == true })
	require.NoError(t, err)
	var got []string
	for _, th := range found {
		got = append(got, th.ID)
	}
	assert.Equal(t, want, got)
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	s, _ := openStore(t)
	ctx, thread := t.Context(), newThread(t, s)
	for _, id := range []string{NewID(), "no uuid", ""} {
		_, errThread := s.Thread(ctx, id)
		_, errState := s.State(ctx, id)
		_, errRun := s.Run(ctx, thread, id)
		_, errBegin := s.BeginRun(ctx, Run{ID: NewID(), ThreadID: id}, leave)
		for _, err := range []error{errThread, errState, errRun, errBegin, s.DeleteThread(ctx, id), s.DeleteRun(ctx, thread, id)} {
			assert.ErrorIs(t, err, ErrNotFound, "id %q", id)
		}
	}
}

func TestDropDeletesEverything(t *testing.T) {
	s, db := openStore(t)
	thread := newThread(t, s)
	require.NoError(t, s.Drop())
	_, err := s.Thread(t.Context(), thread)
	assert.ErrorIs(t, err, ErrClosed)
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		assert.Nil(t, tx.Bucket([]byte("agent")))
		return nil
	}))
}

func TestACancelledCallerWritesNothing(t *testing.T) {
	s, _ := openStore(t)
	thread := newThread(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, s.DeleteThread(ctx, thread), context.Canceled)
	assert.Equal(t, "idle", statusOf(t, s, thread))
}

func TestAMessageKeepsItsFieldsAndNumbers(t *testing.T) {
	const sent = `{"content":"x","id":"1","n":12345678901234567890.0,"type":"ai"}`
	var m Message
	require.NoError(t, json.Unmarshal([]byte(sent), &m))
	data, err := json.Marshal(m)
	require.NoError(t, err)
	assert.Equal(t, sent, string(data))
}
