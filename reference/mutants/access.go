package mutants

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/spec"
)

// carriers are the headers that say who sends a request.
var carriers = []string{"X-Api-Key", "X-Tenant-Id", "Authorization"}

func sameCredentials(a, b *http.Request) bool {
	for _, name := range carriers {
		if !slices.Equal(a.Header.Values(name), b.Header.Values(name)) {
			return false
		}
	}
	return true
}

func anonymous(r *http.Request) bool {
	return !slices.ContainsFunc(carriers, func(name string) bool { return strings.TrimSpace(r.Header.Get(name)) != "" })
}

// checks are the checks of credentials that a server may skip: which requests it then serves as somebody else's.
var checks = []struct {
	name, does string
	of         func(r *http.Request, status int) bool
}{
	{"anonymous", "serves who sends no credentials", func(r *http.Request, status int) bool {
		return anonymous(r) && (status == http.StatusUnauthorized || status == http.StatusForbidden)
	}},
	{"unknown", "serves who sends credentials that are not valid", func(r *http.Request, status int) bool {
		return !anonymous(r) && (status == http.StatusUnauthorized || status == http.StatusForbidden)
	}},
	{"others", "serves what belongs to somebody else", func(r *http.Request, status int) bool {
		return !anonymous(r) && (status == http.StatusNotFound || status == http.StatusForbidden)
	}},
}

// access derives the mutants of the operation's checks.
func (c *contract) access(op operation) (all []Mutant) {
	for _, check := range checks {
		all = append(all, Mutant{
			Name: op.ID + "/access/" + check.name, Group: Access,
			Does:   op.ID + " " + check.does,
			change: func() middleware { return c.skipping(op, check.of) },
		})
	}
	return all
}

// skipping sends a refused request again, with the credentials of whoever was served at the same object, or, where the operation has no
// object, of whoever was served last at the same server.
func (c *contract) skipping(op operation, of func(r *http.Request, status int) bool) middleware {
	var mu sync.Mutex
	served := map[string]http.Header{}
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
		text, _ := io.ReadAll(r.Body)
		again := r.Clone(r.Context())
		r.Body, again.Body = io.NopCloser(bytes.NewReader(text)), io.NopCloser(bytes.NewReader(text))
		a := capture(next, r)
		if a.Code < 300 {
			mu.Lock()
			for _, key := range objects(r, a.Body.Bytes()) {
				served[key] = r.Header.Clone()
			}
			mu.Unlock()
		}
		if c.is(op, r) && of(r, a.Code) {
			mu.Lock()
			owner := served[objectOf(r)]
			mu.Unlock()
			if owner != nil {
				for _, name := range carriers {
					again.Header.Del(name)
					if values := owner.Values(name); len(values) > 0 {
						again.Header[name] = values
					}
				}
				send(w, capture(next, again))
				return true
			}
		}
		send(w, a)
		return false
	}
}

// objectOf is the deployment or thread that a request names, with its server; the server alone where it names none.
func objectOf(r *http.Request) string {
	side, path := half(r)
	parts := strings.Split(path, "/")
	at := 2 // /threads/<id>
	if side == spec.ControlPlane {
		at = 3 // /v2/deployments/<id>
	}
	server := strings.TrimSuffix(r.URL.Path, path)
	if len(parts) <= at {
		return server
	}
	return server + "/" + parts[at]
}

// objects are the objects that an answer shows to belong to who sent the request.
func objects(r *http.Request, body []byte) []string {
	all := []string{objectOf(r)}
	_, path := half(r)
	server := strings.TrimSuffix(r.URL.Path, path)
	if answer, ok := decoded(body); ok && r.Method == http.MethodPost {
		for _, name := range []string{"id", "thread_id"} {
			for _, s := range slots(answer, place{name}, "") {
				if id, is := s.value().(string); is {
					all = append(all, server+"/"+id)
				}
			}
		}
	}
	return all
}
