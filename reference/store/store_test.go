package store

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func open(t *testing.T) (s *Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, path
}

func add(t *testing.T, s *Store, tenant, name string) controlplane.Deployment {
	t.Helper()
	d := controlplane.Deployment{ID: uuid.NewString(), Tenant: tenant, Name: name, CreatedAt: time.Now().UTC()}
	d.Latest = revision(d.ID)
	d.LatestRevisionID = d.Latest.ID
	require.NoError(t, s.CreateDeployment(t.Context(), d, d.Latest))
	return d
}

func revision(deployment string) controlplane.Revision {
	return controlplane.Revision{ID: uuid.NewString(), DeploymentID: deployment, Status: controlplane.Creating}
}

func TestAFileInUseIsExplained(t *testing.T) {
	_, path := open(t)
	_, err := Open(path, false)
	require.ErrorContains(t, err, "another process has it open")
	_, err = Open(filepath.Join(path, "below", "a", "file"), false)
	require.ErrorContains(t, err, "open the store")
}

func TestARefusedChangeLeavesEverythingAsItWas(t *testing.T) {
	s, _ := open(t)
	d := add(t, s, "a", "d")
	refusal := errors.New("no")
	_, err := s.UpdateDeployment(t.Context(), "a", d.ID, func(d *controlplane.Deployment) (*controlplane.Revision, error) {
		d.Name = "changed"
		r := revision(d.ID)
		return &r, refusal
	})
	require.ErrorIs(t, err, refusal)
	stored, err := s.Deployment(t.Context(), "a", d.ID)
	require.NoError(t, err)
	require.Equal(t, d, stored)
}

func TestNothingIsFoundWhereItDoesNotBelong(t *testing.T) {
	s, _ := open(t)
	a, b := add(t, s, "a", "a"), add(t, s, "b", "b")
	_, err := s.Deployment(t.Context(), "b", a.ID)
	require.ErrorIs(t, err, controlplane.ErrNoDeployment)
	_, err = s.Revision(t.Context(), "b", b.ID, a.LatestRevisionID)
	require.ErrorIs(t, err, controlplane.ErrNoRevision)
	_, err = s.Revision(t.Context(), "b", a.ID, a.LatestRevisionID)
	require.ErrorIs(t, err, controlplane.ErrNoDeployment)
	_, err = s.Revisions(t.Context(), "b", a.ID, controlplane.RevisionFilter{Page: controlplane.Page{Limit: 1}})
	require.ErrorIs(t, err, controlplane.ErrNoDeployment)
	_, _, err = s.Work(t.Context(), uuid.NewString())
	require.ErrorIs(t, err, controlplane.ErrNoDeployment)
}

func TestPurgeTakesOneDeploymentOnly(t *testing.T) {
	s, _ := open(t)
	gone, stays := add(t, s, "a", "gone"), add(t, s, "a", "stays")
	use := func(d controlplane.Deployment, content string) {
		require.NoError(t, s.SaveSnapshot(t.Context(), content, []byte("zip")))
		_, err := s.UpdateRevision(t.Context(), d.ID, d.LatestRevisionID, func(_ *controlplane.Deployment, r *controlplane.Revision) { r.Content = content })
		require.NoError(t, err)
	}
	use(gone, "git:1")
	use(stays, "git:2")
	require.NoError(t, s.Purge(t.Context(), gone.ID))
	require.NoError(t, s.Purge(t.Context(), gone.ID), "twice does no harm")
	all, err := s.All(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	_, err = s.Revision(t.Context(), "a", stays.ID, stays.LatestRevisionID)
	require.NoError(t, err)

	require.NoError(t, s.Sweep(t.Context()))
	for content, kept := range map[string]bool{"git:1": false, "git:2": true} {
		archive, err := s.Snapshot(t.Context(), content)
		require.NoError(t, err)
		require.Equal(t, kept, archive != nil, content)
	}
}

func TestConcurrentUpdatesAllCount(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), true)
	require.NoError(t, err)
	defer s.Close()
	d := add(t, s, "a", "d")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				_, err := s.UpdateDeployment(t.Context(), "a", d.ID, func(d *controlplane.Deployment) (*controlplane.Revision, error) {
					r := revision(d.ID)
					return &r, nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all, err := s.Revisions(t.Context(), "a", d.ID, controlplane.RevisionFilter{Page: controlplane.Page{Limit: 100}})
	require.NoError(t, err)
	require.Len(t, all, 81)
	stored, err := s.Deployment(t.Context(), "a", d.ID)
	require.NoError(t, err)
	require.Equal(t, all[0].ID, stored.LatestRevisionID)
}
