package independent

import (
	"net/http"
	"slices"
	"strings"
)

// controlPlane routes by hand: the standard router redirects requests with unusual ids.
func (s *Server) controlPlane(w http.ResponseWriter, r *http.Request) {
	tenant, ok := s.tenantOf(r)
	if !ok { // before anything else, so that a refusal tells nothing
		send(w, r, http.StatusForbidden, "text/plain; charset=utf-8", []byte("You shall not pass.\n"))
		return
	}
	path := segments(r.URL)
	var routes []route
	if len(path) >= 2 && path[0] == "v2" && path[1] == "deployments" {
		routes = s.planeRoutes(r, tenant, path[2:])
	}
	if routes == nil {
		missing("There is nothing at "+r.URL.Path).write(w, r)
		return
	}
	dispatch(w, r, routes, ", ")
}

func (s *Server) planeRoutes(r *http.Request, tenant string, path []string) (routes []route) {
	switch {
	case len(path) == 0:
		if s.opts.Extras {
			routes = []route{{http.MethodGet, func() response { return s.listDeployments(r, tenant) }}}
		}
		return append(routes, route{http.MethodPost, func() response { return s.createDeployment(r, tenant) }})
	case len(path) == 1:
		routes = []route{
			{http.MethodGet, func() response { return s.getDeployment(tenant, path[0]) }},
			{http.MethodPatch, func() response { return s.updateDeployment(r, tenant, path[0]) }},
		}
		if s.opts.Extras {
			routes = append(routes, route{http.MethodDelete, func() response { return s.deleteDeployment(tenant, path[0]) }})
		}
	case len(path) == 2 && path[1] == "revisions":
		routes = []route{{http.MethodGet, func() response { return s.listRevisions(r, tenant, path[0]) }}}
	case len(path) == 3 && path[1] == "revisions":
		routes = []route{{http.MethodGet, func() response { return s.getRevision(tenant, path[0], path[2]) }}}
	}
	return routes
}

// withDeployment calls f with the lock held, when nothing is wrong with the request and the tenant has the deployment.
// Another tenant's does not exist, and one that is unknown is named as it was asked for (interface, section 7).
func (s *Server) withDeployment(c *checker, tenant, id string, f func(*deployment) response) response {
	if !c.ok() {
		return c.invalid()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.byID[strings.ToLower(id)]
	if d == nil || d.tenant != tenant {
		return missing("«" + id + "»: no such deployment was found here")
	}
	return f(d)
}

func (s *Server) getDeployment(tenant, id string) response {
	c := &checker{}
	c.uuid("deployment_id", id)
	return s.withDeployment(c, tenant, id, func(d *deployment) response { return response{http.StatusOK, s.deploymentBody(d)} })
}

func (s *Server) deleteDeployment(tenant, id string) response {
	c := &checker{}
	c.uuid("deployment_id", id)
	return s.withDeployment(c, tenant, id, func(d *deployment) response {
		delete(s.byID, d.id)
		delete(s.agents, d.slug)
		s.order = slices.DeleteFunc(s.order, func(other *deployment) bool { return other == d })
		return response{status: http.StatusNoContent}
	})
}

func (s *Server) listDeployments(r *http.Request, tenant string) response {
	c := &checker{}
	q := r.URL.Query()
	limit, offset := c.page(q)
	name, _ := c.single(q, "name_contains")
	if !c.ok() {
		return c.invalid()
	}
	found := []object{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.order {
		if d.tenant == tenant && strings.Contains(d.title, name) {
			found = append(found, s.deploymentBody(d))
		}
	}
	return response{http.StatusOK, object{"resources": cut(found, limit, offset), "offset": offset + limit}}
}

func missing(detail string) response {
	return response{http.StatusNotFound, object{"detail": detail, "kind": "missing", "docs": "https://docs.invalid/missing"}}
}

// invalid is an HTTPValidationError (interface, sections 2 and 7) with members beyond the required ones.
func (c *checker) invalid() response {
	detail := []object{}
	for _, p := range c.problems {
		detail = append(detail, object{"loc": p.loc, "msg": p.msg, "type": p.kind,
			"ctx": object{"count": len(c.problems)}, "url": "https://docs.invalid/" + p.kind})
	}
	return response{http.StatusUnprocessableEntity, object{"detail": detail, "kind": "invalid"}}
}
