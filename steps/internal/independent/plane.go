package independent

import (
	"net/http"
	"slices"
	"strings"
)

// controlPlane routes by hand: the standard router would answer odd ids with redirects of its own.
func (s *Server) controlPlane(w http.ResponseWriter, r *http.Request) {
	tenant, ok := s.tenantOf(r)
	if !ok { // before anything else, so that a refusal tells nothing
		send(w, r, http.StatusForbidden, "text/plain; charset=utf-8", []byte("You shall not pass.\n"))
		return
	}
	path := segments(r.URL)
	if len(path) < 2 || path[0] != "v2" || path[1] != "deployments" {
		missing(w, r, "There is nothing at "+r.URL.Path)
		return
	}
	path = path[2:]
	switch {
	case len(path) == 0:
		s.allDeployments(w, r, tenant)
	case len(path) == 1:
		s.oneDeployment(w, r, tenant, path[0])
	case len(path) <= 3 && path[1] == "revisions":
		if r.Method != http.MethodGet {
			notAllowed(w, r, http.MethodGet)
		} else if len(path) == 2 {
			s.listRevisions(w, r, tenant, path[0])
		} else {
			s.getRevision(w, r, tenant, path[0], path[2])
		}
	default:
		missing(w, r, "There is nothing at "+r.URL.Path)
	}
}

func (s *Server) allDeployments(w http.ResponseWriter, r *http.Request, tenant string) {
	switch {
	case r.Method == http.MethodPost:
		s.createDeployment(w, r, tenant)
	case r.Method == http.MethodGet && s.opts.Extras:
		s.listDeployments(w, r, tenant)
	case s.opts.Extras:
		notAllowed(w, r, "GET, POST")
	default:
		notAllowed(w, r, http.MethodPost)
	}
}

func (s *Server) oneDeployment(w http.ResponseWriter, r *http.Request, tenant, id string) {
	allow := "GET, PATCH"
	if s.opts.Extras {
		allow += ", DELETE"
	}
	if !slices.Contains(strings.Split(allow, ", "), r.Method) {
		notAllowed(w, r, allow)
		return
	}
	if r.Method == http.MethodPatch {
		s.updateDeployment(w, r, tenant, id)
		return
	}
	c := &checker{}
	key := c.uuid("deployment_id", id)
	if !c.ok() {
		invalid(w, r, c)
		return
	}
	s.mu.Lock()
	d := s.find(tenant, key)
	var body object
	if d != nil && r.Method == http.MethodDelete {
		s.remove(d)
	} else if d != nil {
		body = s.deploymentBody(d)
	}
	s.mu.Unlock()
	switch {
	case d == nil:
		unknownDeployment(w, r, id)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	default:
		reply(w, r, http.StatusOK, body)
	}
}

// find needs s.mu. Another tenant's deployment does not exist.
func (s *Server) find(tenant, id string) *deployment {
	if d := s.byID[id]; d != nil && d.tenant == tenant {
		return d
	}
	return nil
}

// remove needs s.mu.
func (s *Server) remove(d *deployment) {
	delete(s.byID, d.id)
	delete(s.agents, d.slug)
	for i, other := range s.order {
		if other == d {
			s.order = append(s.order[:i:i], s.order[i+1:]...)
		}
	}
}

func (s *Server) listDeployments(w http.ResponseWriter, r *http.Request, tenant string) {
	c := &checker{}
	q := r.URL.Query()
	limit, offset := c.page(q)
	name, _ := c.single(q, "name_contains")
	if !c.ok() {
		invalid(w, r, c)
		return
	}
	found := []object{}
	s.mu.Lock()
	for _, d := range s.order {
		if d.tenant == tenant && strings.Contains(d.title, name) {
			found = append(found, s.deploymentBody(d))
		}
	}
	s.mu.Unlock()
	reply(w, r, http.StatusOK, object{"resources": cut(found, limit, offset), "offset": offset + limit})
}

func missing(w http.ResponseWriter, r *http.Request, detail string) {
	reply(w, r, http.StatusNotFound, object{"detail": detail, "kind": "missing", "docs": "https://docs.invalid/missing"})
}

// unknownDeployment names the id as it was asked for (interface, section 7).
func unknownDeployment(w http.ResponseWriter, r *http.Request, id string) {
	missing(w, r, "«"+id+"»: no such deployment was found here")
}

// invalid answers an HTTPValidationError (interface, sections 2 and 7) with members beyond the required ones.
func invalid(w http.ResponseWriter, r *http.Request, c *checker) {
	detail := []object{}
	for _, p := range c.problems {
		detail = append(detail, object{"loc": p.loc, "msg": p.msg, "type": p.kind,
			"ctx": object{"count": len(c.problems)}, "url": "https://docs.invalid/" + p.kind})
	}
	reply(w, r, http.StatusUnprocessableEntity, object{"detail": detail, "kind": "invalid"})
}
