package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/controlplane"
)

// disk stands between bbolt and its file, and makes the operations fail that it is told to. bbolt writes through a function in a field,
// which its own tests replace too, and synchronises the file itself: in place of that it gets one that cannot be synchronised.
type disk struct {
	write func(b []byte, off int64) (int, error)
	file  **os.File
	whole *os.File
	deaf  *os.File // a pipe

	writes int
	fails  func(n int, b []byte) (kept int, err error) // of the n-th write: how much of it is kept; nil: all of it
	mute   int                                         // after this write the file cannot be synchronised, nor made larger; 0: never
	once   bool                                        // and can again afterwards
}

func diskOf(t *testing.T, db *bbolt.DB) *disk {
	t.Helper()
	at := reflect.ValueOf(db).Elem()
	d := &disk{file: (**os.File)(unsafe.Pointer(at.FieldByName("file").UnsafeAddr()))}
	hook := (*func([]byte, int64) (int, error))(unsafe.Pointer(at.FieldByName("ops").FieldByName("writeAt").UnsafeAddr()))
	d.write, d.whole = *hook, *d.file
	*hook = d.writeAt
	var other *os.File
	var err error
	d.deaf, other, err = os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(d.deaf.Close(), other.Close())) })
	return d
}

func (d *disk) writeAt(b []byte, off int64) (int, error) {
	d.writes++
	if d.mute > 0 && d.writes == d.mute {
		*d.file = d.deaf
	}
	if d.fails != nil {
		if kept, err := d.fails(d.writes, b); err != nil {
			n, _ := d.write(b[:kept], off)
			return n, &fs.PathError{Op: "write", Path: d.whole.Name(), Err: err}
		}
	}
	return d.write(b, off)
}

// heal makes the file synchronise again: for one fault, and before it is closed.
func (d *disk) heal() { *d.file = d.whole }

// thing is something in the store: the states that it may have, in its own words; "" is that it is not there.
type thing struct {
	states []string
	read   func(*Store) (string, error)
}

// did notes what became of a change: where it was acknowledged it has happened, else it may have, whole.
func (x *thing) did(acknowledged bool, change func(state string) string) {
	var after []string
	for _, s := range x.states {
		after = append(after, change(s))
	}
	if !acknowledged {
		after = append(x.states, after...)
	}
	slices.Sort(after)
	x.states = slices.Compact(after)
}

// there notes that a change has found it.
func (x *thing) there(err error) {
	if err == nil {
		x.states = slices.DeleteFunc(x.states, func(s string) bool { return s == "" })
	}
}

// workload changes a store in every way that there is, and returns what must be in it, and how many changes were refused.
func workload(t *testing.T, s *Store, after func(err error)) (things []*thing, refused int) {
	ctx := t.Context()
	step := func(x *thing, err error, change func(string) string) {
		if err != nil {
			refused++
		}
		missing := errors.Is(err, controlplane.ErrNoDeployment) || errors.Is(err, threads.ErrNotFound)
		require.True(t, !missing || slices.Contains(x.states, ""), "what was acknowledged has gone")
		x.did(err == nil || missing, func(s string) string {
			if missing {
				return ""
			}
			return change(s)
		})
		after(err)
	}
	for i := range 3 {
		d := controlplane.Deployment{ID: uuid.NewString(), Tenant: "a", Name: "first"}
		r := revision(d.ID)
		d.LatestRevisionID = r.ID
		x := &thing{states: []string{""}, read: func(s *Store) (string, error) { return described(s, d.ID) }}
		things = append(things, x)
		step(x, s.CreateDeployment(ctx, d, r), func(string) string { return "first 1" })
		for n := range 2 {
			name := fmt.Sprint("name", n)
			_, err := s.UpdateDeployment(ctx, "a", d.ID, func(d *controlplane.Deployment) (*controlplane.Revision, error) {
				d.Name = name
				r := revision(d.ID)
				return &r, nil
			})
			x.there(err)
			step(x, err, func(state string) string {
				if state == "" {
					return ""
				}
				var before string
				var revisions int
				_, _ = fmt.Sscan(state, &before, &revisions)
				return fmt.Sprint(name, " ", revisions+1)
			})
		}
		if i == 1 {
			step(x, s.Purge(ctx, d.ID), func(string) string { return "" })
		}
	}
	content := "git:" + uuid.NewString()
	snapshot := &thing{states: []string{""}, read: func(s *Store) (string, error) {
		archive, err := s.Snapshot(ctx, content)
		return fmt.Sprint(len(archive))[:min(1, len(archive))], err
	}}
	things = append(things, snapshot)
	step(snapshot, s.SaveSnapshot(ctx, content, make([]byte, 300<<10)), func(string) string { return "3" })

	bolt, err := threads.Open(s, "agent")
	after(err)
	if err != nil {
		refused++
		return things, refused
	}
	defer bolt.Close()
	for i := range 2 {
		id, run := uuid.NewString(), uuid.Must(uuid.NewV7()).String()
		x := &thing{states: []string{""}, read: func(s *Store) (string, error) { return threadIn(t, s, id) }}
		things = append(things, x)
		step(x, bolt.CreateThread(ctx, threads.Thread{ID: id}), func(string) string { return "thread 0" })
		_, err := bolt.BeginRun(ctx, threads.Run{ID: run, ThreadID: id}, func([]threads.Run) threads.Plan { return threads.Plan{} })
		x.there(err)
		step(x, err, func(state string) string {
			if state == "" {
				return ""
			}
			return "thread 1"
		})
		if i == 1 {
			step(x, bolt.DeleteThread(ctx, id), func(string) string { return "" })
		}
	}
	return things, refused
}

// described reads a deployment, and fails if a part of it is without the rest.
func described(s *Store, id string) (state string, err error) {
	err = s.View(func(tx *bbolt.Tx) error {
		d, _, err := readDeployment(tx, id)
		if err != nil && !errors.Is(err, controlplane.ErrNoDeployment) {
			return err
		}
		var all []string
		if err := eachRevision(tx, id, func(r controlplane.Revision) bool { all = append(all, r.ID); return true }); err != nil {
			return err
		}
		ids := 0
		c := tx.Bucket(revisionIDs).Cursor()
		for key, _ := c.Seek([]byte(id)); key != nil && string(key[:min(len(key), len(id))]) == id; key, _ = c.Next() {
			ids++
		}
		switch {
		case ids != len(all) || (d.ID == "") != (len(all) == 0):
			return fmt.Errorf("a deployment is half there: %d revisions, %d ids, record %q", len(all), ids, d.ID)
		case d.ID == "":
			return nil
		case all[0] != d.LatestRevisionID:
			return fmt.Errorf("the latest revision is %s, the deployment says %s", all[0], d.LatestRevisionID)
		}
		state = fmt.Sprint(d.Name, " ", len(all))
		return nil
	})
	return state, err
}

func threadIn(t *testing.T, s *Store, id string) (string, error) {
	bolt, err := threads.Open(s, "agent")
	if err != nil {
		return "", err
	}
	defer bolt.Close()
	if _, err := bolt.Thread(t.Context(), id); errors.Is(err, threads.ErrNotFound) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	runs, err := bolt.Runs(t.Context(), id)
	return fmt.Sprint("thread ", len(runs)), err
}

// holds fails unless the file has each thing in one of the states that it may have, and is sound.
func holds(t *testing.T, path string, things []*thing) {
	t.Helper()
	s, err := Open(path, false)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.NoError(t, s.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			return err
		}
		return nil
	}))
	for i, x := range things {
		state, err := x.read(s)
		require.NoError(t, err)
		require.Contains(t, x.states, state, "thing %d", i)
	}
}

// faults are what can become of an operation of the file.
var faults = map[string]func(d *disk, n int){
	"a full disk":         func(d *disk, n int) { d.fails = from(n, syscall.ENOSPC, 0) },
	"a short write":       func(d *disk, n int) { d.fails = at(n, syscall.ENOSPC, 0.5) },
	"a write but one":     func(d *disk, n int) { d.fails = at(n, syscall.EIO, 0.999) },
	"a torn start":        func(d *disk, n int) { d.fails = from(n, syscall.EIO, 0.01) },
	"an error":            func(d *disk, n int) { d.fails = at(n, syscall.EIO, 0) },
	"no synchronisation":  func(d *disk, n int) { d.mute = n },
	"one synchronisation": func(d *disk, n int) { d.mute, d.once = n, true },
}

func at(n int, err error, kept float64) func(int, []byte) (int, error) {
	return func(now int, b []byte) (int, error) {
		if now != n {
			return 0, nil
		}
		return int(kept * float64(len(b))), err
	}
}

func from(n int, err error, kept float64) func(int, []byte) (int, error) {
	return func(now int, b []byte) (int, error) {
		if now < n {
			return 0, nil
		}
		return int(kept * float64(len(b))), err
	}
}

// TestNoFaultOfTheDiskLosesWhatWasAcknowledged makes every fourth operation of the file fail in turn, in each way. Every operation does
// so at night.
func TestNoFaultOfTheDiskLosesWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	assertNothingIsLost(t, 4)
}

// assertNothingIsLost makes one of so many operations of the file fail. Whatever the store has acknowledged is there afterwards, and
// nothing is there by half.
func assertNothingIsLost(t *testing.T, step int) {
	t.Helper()
	s, path := open(t)
	d := diskOf(t, s.db)
	things, refused := workload(t, s, func(error) {})
	require.Zero(t, refused)
	all := d.writes
	require.Greater(t, all, 30)
	require.NoError(t, s.Close())
	for _, x := range things {
		require.Len(t, x.states, 1)
	}
	holds(t, path, things)

	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= all; n += step {
				path := filepath.Join(t.TempDir(), "store.db")
				s, err := Open(path, false)
				require.NoError(t, err)
				d := diskOf(t, s.db)
				fault(d, n)
				failed := false
				things, refused := workload(t, s, func(err error) {
					if failed && d.mute > 0 && !d.once {
						assert.Error(t, err, "after a write that the disk has not confirmed nothing is acknowledged")
					}
					failed = failed || err != nil
					if d.once && failed {
						d.heal()
						assert.ErrorIs(t, s.Update(func(*bbolt.Tx) error { return nil }), ErrLost)
					}
				})
				assert.Positive(t, refused, "the %d. write: an error was acknowledged", n)
				d.heal()
				require.NoError(t, s.Close())
				holds(t, path, things)
			}
		})
	}
}
