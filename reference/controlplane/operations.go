package controlplane

import (
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/reference/controlplane/validate"
)

// The bounds of lists (interface, section 8), and of bodies.
const (
	defaultLimit = 20
	largestLimit = 100
	largestBody  = 1 << 20
)

func (s *Server) createDeployment(r *http.Request, tenant string) (int, any, error) {
	var problems validate.Problems
	body, err := readBody(r, &problems)
	if err != nil {
		return 0, nil, err
	}
	req := decodeCreate(body, &problems)
	if err := problems.Err(); err != nil {
		return 0, nil, err
	}
	d, err := s.service.create(r.Context(), tenant, req)
	return http.StatusCreated, s.showDeployment(d), err
}

func (s *Server) listDeployments(r *http.Request, tenant string) (int, any, error) {
	var problems validate.Problems
	query := validate.ParseQuery(r.URL.RawQuery, &problems)
	filter := DeploymentFilter{Page: readPage(query), NameContains: query.Text("name_contains")}
	statuses := query.Choices("status", deploymentStatuses)
	if err := problems.Err(); err != nil {
		return 0, nil, err
	}
	if statuses != nil && !slices.Contains(statuses, ready) {
		return http.StatusOK, showPage(nil, filter.Page, s.showDeployment), nil
	}
	list, err := s.service.store.Deployments(r.Context(), tenant, filter)
	return http.StatusOK, showPage(list, filter.Page, s.showDeployment), err
}

func (s *Server) getDeployment(r *http.Request, tenant string) (int, any, error) {
	var problems validate.Problems
	id := deploymentID(r, &problems)
	if err := problems.Err(); err != nil {
		return 0, nil, err
	}
	d, err := s.service.store.Deployment(r.Context(), tenant, id)
	return http.StatusOK, s.showDeployment(d), err
}

func (s *Server) updateDeployment(r *http.Request, tenant string) (int, any, error) {
	var problems validate.Problems
	id := deploymentID(r, &problems)
	body, err := readBody(r, &problems)
	if err != nil {
		return 0, nil, err
	}
	req := decodeUpdate(body, &problems)
	if err := problems.Err(); err != nil {
		return 0, nil, err
	}
	d, err := s.service.update(r.Context(), tenant, id, req)
	return http.StatusOK, s.showDeployment(d), err
}

func (s *Server) deleteDeployment(r *http.Request, tenant string) (int, any, error) {
	var problems validate.Problems
	id := deploymentID(r, &problems)
	if err := problems.Err(); err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, s.service.remove(r.Context(), tenant, id)
}

func (s *Server) listRevisions(r *http.Request, tenant string) (int, any, error) {
	var problems validate.Problems
	id := deploymentID(r, &problems)
	query := validate.ParseQuery(r.URL.RawQuery, &problems)
	filter := RevisionFilter{Page: readPage(query), RemoteReconciled: query.Bool("remote_reconciled")}
	for _, status := range query.Choices("status", names(Statuses())) {
		filter.Statuses = append(filter.Statuses, Status(status))
	}
	if err := problems.Err(); err != nil {
		return 0, nil, err
	}
	list, err := s.service.store.Revisions(r.Context(), tenant, id, filter)
	return http.StatusOK, showPage(list, filter.Page, showRevision), err
}

func (s *Server) getRevision(r *http.Request, tenant string) (int, any, error) {
	id, revisionID, err := revisionPath(r)
	if err != nil {
		return 0, nil, err
	}
	rev, err := s.service.store.Revision(r.Context(), tenant, id, revisionID)
	return http.StatusOK, showRevision(rev), err
}

func (s *Server) redeployRevision(r *http.Request, tenant string) (int, any, error) {
	id, revisionID, err := revisionPath(r)
	if err != nil {
		return 0, nil, err
	}
	rev, err := s.service.redeploy(r.Context(), tenant, id, revisionID)
	return http.StatusOK, showRevision(rev), err
}

func deploymentID(r *http.Request, problems *validate.Problems) string {
	return validate.PathUUID("deployment_id", r.PathValue("deployment_id"), problems)
}

func revisionPath(r *http.Request) (deployment, revision string, err error) {
	var problems validate.Problems
	deployment = deploymentID(r, &problems)
	revision = validate.PathUUID("revision_id", r.PathValue("revision_id"), &problems)
	return deployment, revision, problems.Err()
}

func readPage(q validate.Query) Page {
	return Page{
		Limit:  q.Int("limit", defaultLimit, 1, largestLimit),
		Offset: q.Int("offset", 0, 0, math.MaxInt),
	}
}

// readBody reads the body whole. A body that says it is something other than JSON is refused as one that is not.
func readBody(r *http.Request, problems *validate.Problems) ([]byte, error) {
	if kind := r.Header.Get("Content-Type"); kind != "" {
		media, _, err := mime.ParseMediaType(kind)
		if err != nil || media != "application/json" {
			problems.Add([]any{"header", "content-type"}, "value_error", "Value error, the body should be application/json", kind)
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, largestBody))
	if err != nil {
		return nil, fmt.Errorf("read the request body: %w", err)
	}
	return body, nil
}
