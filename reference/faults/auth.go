package faults

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/controlplane"
)

func credentials() []Fault {
	return []Fault{
		{
			Name: "list-is-open", Breaks: "list revisions succeeds without credentials", Fails: "CP-AUTH-1",
			Apply: servingUnauthenticated(anonymous, listRevisions),
		},
		{
			Name: "revision-is-open", Breaks: "get revision succeeds without credentials", Fails: "CP-AUTH-1",
			Apply: servingUnauthenticated(anonymous, getRevision),
		},
		{
			Name: "deployment-is-open", Breaks: "get deployment succeeds without credentials", Fails: "CP-AUTH-1",
			Apply: servingUnauthenticated(anonymous, getDeployment),
		},
		{
			Name: "missing-key-is-422", Breaks: "a request without credentials gets 422 instead of 401", Fails: "CP-AUTH-1",
			Apply: answering401(anonymous, func(a *answer) { a.invalid("header", "x-api-key") }),
		},
		{
			Name: "missing-key-is-404", Breaks: "a request without credentials gets 404 instead of 401", Fails: "CP-AUTH-1",
			Apply: answering401(anonymous, func(a *answer) { a.refuse(http.StatusNotFound, "Not Found") }),
		},
		{
			Name: "empty-key-is-accepted", Breaks: "get deployment, list revisions and get revision accept an empty API key", Fails: "CP-AUTH-2",
			Apply: servingUnauthenticated(withEmptyKey, getDeployment, listRevisions, getRevision),
		},
		{
			Name: "empty-key-creates", Breaks: "create deployment accepts an empty API key", Fails: "CP-AUTH-2",
			Apply: servingUnauthenticated(withEmptyKey, createDeployment),
		},
		{
			Name: "any-key-lists", Breaks: "list revisions accepts any API key", Fails: "CP-AUTH-2",
			Apply: servingUnauthenticated(withUnknownKey, listRevisions),
		},
		{
			Name: "unknown-key-is-422", Breaks: "an unknown API key gets 422 instead of 401", Fails: "CP-AUTH-2",
			Apply: answering401(withUnknownKey, func(a *answer) { a.invalid("header", "x-api-key") }),
		},
		{
			Name: "longer-key-is-accepted", Breaks: "an API key that starts with a valid key is accepted", Fails: "CP-AUTH-2",
			Apply: acceptingSimilarKeys(func(given, valid string) bool { return strings.HasPrefix(given, valid) }),
		},
		{
			Name: "key-in-other-case-is-accepted", Breaks: "API keys are compared case-insensitively", Fails: "CP-AUTH-2",
			Apply: acceptingSimilarKeys(strings.EqualFold),
		},
		{
			Name: "shorter-key-is-accepted", Breaks: "an API key that is the beginning of a valid key is accepted", Fails: "CP-AUTH-2",
			Apply: acceptingSimilarKeys(func(given, valid string) bool { return given != "" && strings.HasPrefix(valid, given) }),
		},
		{
			Name: "end-of-a-key-is-not-compared", Breaks: "API keys of the same length are compared without their last character", Fails: "CP-AUTH-2",
			Apply: acceptingSimilarKeys(differsAtTheEnd),
		},
		{
			Name: "any-bearer-lists", Breaks: "list revisions accepts any bearer token", Fails: "CP-AUTH-2",
			Apply: servingUnauthenticated(withScheme("Authorization"), listRevisions),
		},
		{
			Name: "any-tenant-id-reads", Breaks: "get deployment accepts any tenant ID", Fails: "CP-AUTH-2",
			Apply: servingUnauthenticated(withScheme("X-Tenant-Id"), getDeployment),
		},
		{
			Name: "empty-tenant-id-is-accepted", Breaks: "get revision accepts an empty tenant ID", Fails: "CP-AUTH-2",
			Apply: servingUnauthenticated(func(r *http.Request) bool {
				values, sent := r.Header["X-Tenant-Id"]
				return sent && strings.TrimSpace(values[0]) == ""
			}, getRevision),
		},
		{
			Name: "users-token-reads-deployments", Breaks: "get deployment accepts the tokens of users of agent servers", Fails: "CP-AUTH-2",
			Apply: servingUnauthenticated(withUsersToken, getDeployment),
		},
		{
			Name: "refused-update-is-done", Breaks: "an update without credentials gets 401, but is applied", Fails: "CP-AUTH-3",
			Apply: refusedButDone(anonymous, updateDeployment),
		},
		{
			Name:   "refused-update-supersedes",
			Breaks: "an update without credentials gets 401, but is applied, and the revision that was being built becomes SKIPPED or INTERRUPTED",
			Fails:  "CP-AUTH-3", Elsewhere: true,
			Apply: compose(refusedButDone(anonymous, updateDeployment), func(o *reference.Options) { o.Pace = 100 * time.Millisecond }),
		},
		{
			Name: "update-with-wrong-key-is-done", Breaks: "an update with an unknown API key gets 401, but is applied", Fails: "CP-AUTH-3",
			Apply: refusedButDone(withUnknownKey, updateDeployment),
		},
		{
			Name: "refused-creation-is-done", Breaks: "create deployment without credentials gets 401, but the deployment is created", Fails: "CP-AUTH-3",
			Apply: refusedButDone(anonymous, createDeployment),
		},
		{
			Name: "bearer-may-only-read", Breaks: "an update with a bearer token gets 403", Fails: "CP-AUTH-4",
			Apply: forbidden(withScheme("Authorization"), updateDeployment),
		},
		{
			Name: "bearer-creates-nothing", Breaks: "create deployment with a valid bearer token gets 422", Fails: "CP-AUTH-4",
			Apply: onAnswer(createDeployment, func(r *http.Request, a *answer) {
				if withScheme("Authorization")(r) && a.status < 400 {
					a.refuse(http.StatusUnprocessableEntity, "no tenant")
				}
			}),
		},
		{
			Name: "tenant-id-reads-no-revision", Breaks: "get revision with a tenant ID gets 403", Fails: "CP-AUTH-4",
			Apply: forbidden(withScheme("X-Tenant-Id"), getRevision),
		},
		{
			Name: "bearer-sees-nothing", Breaks: "get deployment with a bearer token gets 404", Fails: "CP-AUTH-4",
			Apply: onAnswer(getDeployment, func(r *http.Request, a *answer) {
				if withScheme("Authorization")(r) && a.status == http.StatusOK {
					a.refuse(http.StatusNotFound, "Deployment ID "+deploymentOf(r)+" not found.")
				}
			}),
		},
		{
			Name: "lookup-before-authentication", Breaks: "without credentials an existing deployment gets 401 and an unknown one 404", Fails: "CP-AUTH-5",
			Apply: refusedByExistence(http.StatusNotFound),
		},
		{
			Name: "existing-is-forbidden", Breaks: "without credentials an existing deployment gets 401 and an unknown one 403", Fails: "CP-AUTH-5",
			Apply: refusedByExistence(http.StatusForbidden),
		},
	}
}

// withUsersToken knows the tokens of the fixtures' users by their form, as a server does that takes any token of its issuer.
func withUsersToken(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), "Bearer token-")
}

// servingUnauthenticated serves callers without valid credentials as if they were the owner.
func servingUnauthenticated(who func(*http.Request) bool, ops ...operation) Layer {
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

// acceptingSimilarKeys treats a similar API key as the valid one.
func acceptingSimilarKeys(like func(given, valid string) bool) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		given, valid := r.Header.Get("X-Api-Key"), m.creatorsKey()
		if isPlane(r) && given != "" && valid != "" && like(given, valid) {
			r.Header.Set("X-Api-Key", valid)
		}
		next.ServeHTTP(w, r)
	})
}

// refusedButDone answers 401 correctly, but carries the request out.
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

// refusedByExistence answers 401 for an existing deployment and another status for an unknown one.
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
			Name: "other-tenant-reads-revision", Breaks: "get revision returns a revision of another tenant", Fails: "CP-AUTH-6",
			Apply: ignoringTenant(func(s *tenantStore) { s.single = true }),
		},
		{
			Name: "other-tenant-lists", Breaks: "list revisions returns the revisions of another tenant's deployment", Fails: "CP-AUTH-6",
			Apply: ignoringTenant(func(s *tenantStore) { s.lists = true }),
		},
		{
			Name: "other-tenant-updates", Breaks: "an update changes another tenant's deployment", Fails: "CP-AUTH-6",
			Apply: ignoringTenant(func(s *tenantStore) { s.updates = true }),
		},
		{
			Name: "other-tenant-is-forbidden", Breaks: "another tenant's deployment gets 403, which reveals that it exists", Fails: "CP-AUTH-6",
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

// tenantStore treats every caller as the owner, in some operations.
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

// owner returns the owner of a deployment if open is set and the owner is known, else the calling tenant.
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
