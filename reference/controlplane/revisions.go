package controlplane

import (
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/store"
)

// listRevisions lists the revisions of a deployment (interface, section 4). Filters are applied before paging. The interface
// defines no order: this one is from the newest to the oldest.
func (s *Server) listRevisions(r *http.Request, tenant string) (int, any, error) {
	var form httpapi.Form
	id := form.PathUUID(r, "deployment_id")
	query := form.Query(r)
	page, reconciled := readPage(query), query.Bool("remote_reconciled")
	selected := httpapi.Choices(query, "status", statuses)
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	var shown []RevisionView
	err := s.view(func(t tables) error {
		if _, err := t.deployment(tenant, id); err != nil {
			return err
		}
		found, err := store.Cut(store.Newest[Revision](t.revisions, id), page, func(r Revision) bool {
			return (selected == nil || slices.Contains(selected, r.Status)) &&
				(reconciled == nil || *reconciled == r.RemoteReconciled)
		})
		for _, revision := range found {
			shown = append(shown, revision.RevisionView)
		}
		return err
	})
	return http.StatusOK, paged(shown, page), err
}

func (s *Server) getRevision(r *http.Request, tenant string) (int, any, error) {
	var form httpapi.Form
	id, revisionID := form.PathUUID(r, "deployment_id"), form.PathUUID(r, "revision_id")
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	var revision Revision
	err := s.view(func(t tables) (err error) {
		if _, err := t.deployment(tenant, id); err != nil {
			return err
		}
		revision, err = t.revision(id, revisionID)
		return err
	})
	return http.StatusOK, revision.RevisionView, err
}
