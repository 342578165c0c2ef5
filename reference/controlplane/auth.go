package controlplane

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Tenant is an owner of deployments, with a credential for each scheme (interface, section 5). An empty credential
// disables its scheme for the tenant.
type Tenant struct {
	Name     string // identifies the tenant in the store; never shown, and not a credential
	APIKey   string // API Key: header X-Api-Key
	TenantID string // Tenant ID: header X-Tenant-Id; sufficient without an API key, so it is secret too
	Bearer   string // Bearer Auth: header Authorization
}

// identify returns the tenant of the credentials in a request. One credential is enough. If there are several, all must
// belong to the same tenant.
func (s *Server) identify(h http.Header) (tenant string, ok bool) {
	presented := map[string]string{}
	for _, header := range []string{"X-Api-Key", "X-Tenant-Id", "Authorization"} {
		values, sent := h[header]
		if !sent {
			continue
		}
		value := strings.Join(values, ",") // refused below if the header was sent twice
		if header == "Authorization" {
			kind, token, _ := strings.Cut(value, " ")
			if !strings.EqualFold(kind, "Bearer") {
				return "", false
			}
			value = token
		}
		if len(values) != 1 || strings.TrimSpace(value) == "" {
			return "", false
		}
		presented[header] = value
	}
	for _, t := range s.opts.Tenants { // always all of them, so that the duration does not reveal which tenant matches
		if len(presented) > 0 && t.accepts(presented) {
			tenant = t.Name
		}
	}
	return tenant, tenant != ""
}

// accepts reports whether the credentials are those of the tenant. It compares digests, which have the same length, so that
// the duration does not depend on the credentials.
func (t Tenant) accepts(presented map[string]string) bool {
	own := map[string]string{"X-Api-Key": t.APIKey, "X-Tenant-Id": t.TenantID, "Authorization": t.Bearer}
	all := 1
	for header, value := range presented {
		want, got := sha256.Sum256([]byte(own[header])), sha256.Sum256([]byte(value))
		all &= subtle.ConstantTimeCompare(want[:], got[:])
	}
	return all == 1
}
