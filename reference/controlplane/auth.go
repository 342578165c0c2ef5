package controlplane

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Tenant is an owner of deployments and the three credentials that open them, one for each scheme of the interface,
// section 5. A scheme whose credential is empty is closed for the tenant.
type Tenant struct {
	Name     string // how deployments are kept apart in the store; never shown, and no credential
	APIKey   string // API Key: header X-Api-Key
	TenantID string // Tenant ID: header X-Tenant-Id. Here it opens by itself, so it is as secret as a key
	Bearer   string // Bearer Auth: header Authorization
}

// identify returns the tenant to whom every presented credential belongs. One credential is enough; but a wrong,
// empty or foreign one is not replaced by a valid second one.
func (s *Server) identify(h http.Header) (tenant string, ok bool) {
	presented := map[string]string{}
	for _, header := range []string{"X-Api-Key", "X-Tenant-Id", "Authorization"} {
		values, sent := h[header]
		if !sent {
			continue
		}
		value := strings.Join(values, ",") // a header that is sent twice holds no credential
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
	for _, t := range s.opts.Tenants { // all of them, always: how long it takes must not tell who is known
		if len(presented) > 0 && t.accepts(presented) {
			tenant = t.Name
		}
	}
	return tenant, tenant != ""
}

// accepts compares digests: they are all of one length, so that comparing takes the same time whatever is presented.
func (t Tenant) accepts(presented map[string]string) bool {
	own := map[string]string{"X-Api-Key": t.APIKey, "X-Tenant-Id": t.TenantID, "Authorization": t.Bearer}
	all := 1
	for header, value := range presented {
		want, got := sha256.Sum256([]byte(own[header])), sha256.Sum256([]byte(value))
		all &= subtle.ConstantTimeCompare(want[:], got[:])
	}
	return all == 1
}
