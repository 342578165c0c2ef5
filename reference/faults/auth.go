package faults

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reference/controlplane"
)

func credentials() []Fault {
	return []Fault{
		{
			Name: "list-is-open", Breaks: "the list of revisions is served without credentials", Fails: "CP-AUTH-1",
			Apply: openTo(anonymous, listRevisions),
		},
		{
			Name: "revision-is-open", Breaks: "a single revision is served without credentials", Fails: "CP-AUTH-1",
			Apply: openTo(anonymous, getRevision),
		},
		{
			Name: "deployment-is-open", Breaks: "a deployment is served without credentials", Fails: "CP-AUTH-1",
			Apply: openTo(anonymous, getDeployment),
		},
		{
			Name: "missing-key-is-422", Breaks: "a missing key is a missing parameter: 422 in place of 401", Fails: "CP-AUTH-1",
			Apply: answering401(anonymous, func(a *answer) { a.invalid("header", "x-api-key") }),
		},
		{
			Name: "missing-key-is-404", Breaks: "without credentials nothing is found: 404 in place of 401", Fails: "CP-AUTH-1",
			Apply: answering401(anonymous, func(a *answer) { a.refuse(http.StatusNotFound, "Not Found") }),
		},
		{
			Name: "empty-key-opens", Breaks: "an empty key opens everything that can be read", Fails: "CP-AUTH-2",
			Apply: openTo(withEmptyKey, getDeployment, listRevisions, getRevision),
		},
		{
			Name: "empty-key-creates", Breaks: "with an empty key anyone may create", Fails: "CP-AUTH-2",
			Apply: openTo(withEmptyKey, createDeployment),
		},
		{
			Name: "any-key-lists", Breaks: "the list of revisions takes any key", Fails: "CP-AUTH-2",
			Apply: openTo(withUnknownKey, listRevisions),
		},
		{
			Name: "unknown-key-is-400", Breaks: "an unknown key is a bad request", Fails: "CP-AUTH-2",
			Apply: answering401(withUnknownKey, func(a *answer) { a.invalid("header", "x-api-key") }),
		},
		{
			Name: "longer-key-opens", Breaks: "of a key only as many characters are compared as the valid one has", Fails: "CP-AUTH-2",
			Apply: openToLike(func(given, valid string) bool { return strings.HasPrefix(given, valid) }),
		},
		{
			Name: "key-in-other-case-opens", Breaks: "a key is looked up without regard to its case: the database compares so", Fails: "CP-AUTH-2",
			Apply: openToLike(strings.EqualFold),
		},
		{
			Name: "refused-update-is-done", Breaks: "an update without credentials is refused, but done", Fails: "CP-AUTH-3",
			Apply: refusedButDone(anonymous, updateDeployment),
		},
		{
			Name: "update-with-wrong-key-is-done", Breaks: "an update with an unknown key is refused, but done", Fails: "CP-AUTH-3",
			Apply: refusedButDone(withUnknownKey, updateDeployment),
		},
		{
			Name: "refused-creation-is-done", Breaks: "a creation without credentials is refused, but done", Fails: "CP-AUTH-3",
			Apply: refusedButDone(anonymous, createDeployment),
		},
		{
			Name: "bearer-may-only-read", Breaks: "the bearer token does not open the update", Fails: "CP-AUTH-4",
			Apply: forbidden(withScheme("Authorization"), updateDeployment),
		},
		{
			Name: "bearer-creates-nothing", Breaks: "with a bearer token a creation is refused as invalid: the tenant is not read from it", Fails: "CP-AUTH-4",
			Apply: onAnswer(createDeployment, func(r *http.Request, a *answer) {
				if withScheme("Authorization")(r) {
					a.refuse(http.StatusUnprocessableEntity, "no tenant")
				}
			}),
		},
		{
			Name: "tenant-id-opens-no-revision", Breaks: "the tenant ID does not open a single revision", Fails: "CP-AUTH-4",
			Apply: forbidden(withScheme("X-Tenant-Id"), getRevision),
		},
		{
			Name: "bearer-sees-nothing", Breaks: "with a bearer token the deployment is not found: the tenant is not read from it", Fails: "CP-AUTH-4",
			Apply: onAnswer(getDeployment, func(r *http.Request, a *answer) {
				if withScheme("Authorization")(r) && a.status == http.StatusOK {
					a.refuse(http.StatusNotFound, "Deployment ID "+deploymentOf(r)+" not found.")
				}
			}),
		},
		{
			Name: "lookup-before-authentication", Breaks: "a deployment is looked up before the caller is: 404 for an unknown one, else 401", Fails: "CP-AUTH-5",
			Apply: refusedByExistence(http.StatusNotFound),
		},
		{
			Name: "existing-is-forbidden", Breaks: "without credentials an existing deployment is 401, an unknown one 403", Fails: "CP-AUTH-5",
			Apply: refusedByExistence(http.StatusForbidden),
		},
	}
}

// openTo serves callers without valid credentials as if they were the owner.
func openTo(who func(*http.Request) bool, ops ...operation) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !oneOf(ops, r) || !who(r) {
			next.ServeHTTP(w, r)
			return
		}
		readBody(r)
		a := capture(next, r)
		if a.status == http.StatusUnauthorized {
			m.asOwner(r)
			readBody(r)
			a = capture(next, r)
		}
		a.send(w)
	})
}

// openToLike takes a key for the valid one where it is like it.
func openToLike(like func(given, valid string) bool) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		given, valid := r.Header.Get("X-Api-Key"), m.creatorsKey()
		if isPlane(r) && given != "" && valid != "" && like(given, valid) {
			r.Header.Set("X-Api-Key", valid)
		}
		next.ServeHTTP(w, r)
	})
}

// refusedButDone answers 401 as it should, and does what was asked.
func refusedButDone(who func(*http.Request) bool, op operation) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !op.is(r) || !who(r) {
			next.ServeHTTP(w, r)
			return
		}
		text := readBody(r)
		a := capture(next, r)
		if a.status == http.StatusUnauthorized {
			m.asOwner(r)
			setBody(r, text)
			capture(next, r)
		}
		a.send(w)
	})
}

func answering401(who func(*http.Request) bool, otherwise func(a *answer)) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		ops := []operation{createDeployment, getDeployment, updateDeployment, listRevisions, getRevision}
		if !oneOf(ops, r) || !who(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if a.status == http.StatusUnauthorized {
			otherwise(a)
		}
		a.send(w)
	})
}

func forbidden(who func(*http.Request) bool, op operation) Layer {
	return onAnswer(op, func(r *http.Request, a *answer) {
		if who(r) {
			a.refuse(http.StatusForbidden, "Forbidden")
		}
	})
}

// refusedByExistence answers 401 for a deployment that exists, and another status for one that does not.
func refusedByExistence(unknown int) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !getDeployment.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if a.status == http.StatusUnauthorized && !m.known(deploymentOf(r)) {
			a.refuse(unknown, "Not available.")
		}
		a.send(w)
	})
}

func oneOf(ops []operation, r *http.Request) bool {
	return slices.ContainsFunc(ops, func(op operation) bool { return op.is(r) })
}

func tenants() []Fault {
	return []Fault{
		{
			Name: "other-tenant-reads-revision", Breaks: "a single revision is looked up without the tenant", Fails: "CP-AUTH-6",
			Apply: ignoringTenant(func(s *tenantStore) { s.single = true }),
		},
		{
			Name: "other-tenant-lists", Breaks: "the revisions are listed without the tenant", Fails: "CP-AUTH-6",
			Apply: ignoringTenant(func(s *tenantStore) { s.lists = true }),
		},
		{
			Name: "other-tenant-updates", Breaks: "an update looks the deployment up without the tenant", Fails: "CP-AUTH-6",
			Apply: ignoringTenant(func(s *tenantStore) { s.updates = true }),
		},
		{
			Name: "other-tenant-is-forbidden", Breaks: "another tenant's deployment is 403, which tells that it exists", Fails: "CP-AUTH-6",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getDeployment.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				if a.status == http.StatusNotFound && m.known(deploymentOf(r)) {
					a.refuse(http.StatusForbidden, "This deployment belongs to another tenant.")
				}
				a.send(w)
			}),
		},
	}
}

// tenantStore takes every caller for the owner, in some operations.
type tenantStore struct {
	controlplane.Store
	single, lists, updates bool

	mu     sync.Mutex
	owners map[string]string // by deployment
}

func ignoringTenant(where func(*tenantStore)) Layer {
	return storing(func(s controlplane.Store) controlplane.Store {
		t := &tenantStore{Store: s, owners: map[string]string{}}
		where(t)
		return t
	})
}

func (s *tenantStore) CreateDeployment(ctx context.Context, d controlplane.Deployment, first controlplane.Revision) error {
	s.mu.Lock()
	s.owners[d.ID] = d.Tenant
	s.mu.Unlock()
	return s.Store.CreateDeployment(ctx, d, first)
}

// owner returns the owner of a deployment, or the tenant who asks where nothing else is known or wanted.
func (s *tenantStore) owner(open bool, tenant, id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if owner := s.owners[id]; open && owner != "" {
		return owner
	}
	return tenant
}

func (s *tenantStore) Revision(ctx context.Context, tenant, id, revision string) (controlplane.Revision, error) {
	return s.Store.Revision(ctx, s.owner(s.single, tenant, id), id, revision)
}

func (s *tenantStore) Revisions(ctx context.Context, tenant, id string, f controlplane.RevisionFilter) ([]controlplane.Revision, error) {
	return s.Store.Revisions(ctx, s.owner(s.lists, tenant, id), id, f)
}

func (s *tenantStore) UpdateDeployment(ctx context.Context, tenant, id string, change func(*controlplane.Deployment) (*controlplane.Revision, error)) (controlplane.Deployment, error) {
	return s.Store.UpdateDeployment(ctx, s.owner(s.updates, tenant, id), id, change)
}
