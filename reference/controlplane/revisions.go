package controlplane

import (
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/store"
)

// RevisionFilter selects revisions; zero fields select all. The filter comes before paging (interface, section 4).
type RevisionFilter struct {
	Statuses         []Status
	RemoteReconciled *bool
	Page             store.Page
}

func (f RevisionFilter) matches(r Revision) bool {
	return (f.Statuses == nil || slices.Contains(f.Statuses, r.Status)) &&
		(f.RemoteReconciled == nil || *f.RemoteReconciled == r.RemoteReconciled)
}

// listRevisions lists the revisions of a deployment, newest first.
func (s *Server) listRevisions(r *http.Request, tenant string) (int, any, error) {
	var form httpapi.Form
	id := form.PathUUID(r, "deployment_id")
	query := form.Query(r)
	filter := RevisionFilter{
		Page: readPage(query), RemoteReconciled: query.Bool("remote_reconciled"),
		Statuses: httpapi.Choices(query, "status", statuses),
	}
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	found, err := s.revisions(tenant, id, filter)
	shown := make([]RevisionView, len(found))
	for i, revision := range found {
		shown[i] = revision.RevisionView
	}
	return http.StatusOK, paged(shown, filter.Page), err
}

func (s *Server) revisions(tenant, id string, filter RevisionFilter) (found []Revision, err error) {
	err = s.view(func(t tables) error {
		d, err := t.deployment(tenant, id)
		if err != nil {
			return err
		}
		all := store.Newest[Revision](t.revisions, id)
		if s.opts.Select == nil {
			found, err = store.Cut(all, filter.Page, filter.matches)
			return err
		}
		list, err := store.Cut(all, store.Everything, RevisionFilter{RemoteReconciled: filter.RemoteReconciled}.matches)
		found = s.opts.Select(d, list, filter)
		return err
	})
	return found, err
}

func (s *Server) getRevision(r *http.Request, tenant string) (int, any, error) {
	var form httpapi.Form
	id, revisionID := form.PathUUID(r, "deployment_id"), form.PathUUID(r, "revision_id")
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	var revision Revision
	err := s.view(func(t tables) (err error) {
		if _, err = t.deployment(tenant, id); err == nil {
			revision, err = t.revision(id, revisionID)
		}
		return err
	})
	if err == nil && s.opts.Select != nil {
		all, _ := s.revisions(tenant, id, RevisionFilter{Page: store.Everything})
		for _, shown := range all {
			if shown.ID == revisionID {
				revision = shown
			}
		}
	}
	return http.StatusOK, revision.RevisionView, err
}

// redeployRevision makes a revision of the configuration of an earlier one.
func (s *Server) redeployRevision(r *http.Request, tenant string) (int, any, error) {
	var form httpapi.Form
	id, revisionID := form.PathUUID(r, "deployment_id"), form.PathUUID(r, "revision_id")
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	var next Revision
	_, err := s.change(tenant, id, func(t tables, d *Deployment) (*Revision, error) {
		earlier, err := t.revision(id, revisionID)
		if err != nil {
			return nil, err
		}
		if err := d.checkTag(earlier.SourceRevisionConfig); err != nil {
			return nil, err
		}
		d.UpdatedAt = later(s.now(), d.CreatedAt)
		next = newRevision(*d, earlier.SourceRevisionConfig, d.UpdatedAt)
		next.RepoURL = earlier.RepoURL
		return &next, nil
	})
	return http.StatusOK, next.RevisionView, err
}
