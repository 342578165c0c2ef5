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

// guard tells which tenant is calling. It holds digests only: they are all of one length, so that comparing takes
// the same time whatever is presented.
type guard struct{ tenants []digests }

type digests struct {
	name string
	want map[scheme]digest
}

type digest = [sha256.Size]byte

type scheme int

const (
	apiKey scheme = iota
	tenantID
	bearer
)

func newGuard(tenants []Tenant) guard {
	var g guard
	for _, t := range tenants {
		d := digests{name: t.Name, want: map[scheme]digest{}}
		for s, credential := range map[scheme]string{apiKey: t.APIKey, tenantID: t.TenantID, bearer: t.Bearer} {
			if credential != "" {
				d.want[s] = sha256.Sum256([]byte(credential))
			}
		}
		g.tenants = append(g.tenants, d)
	}
	return g
}

// identify returns the tenant to whom every presented credential belongs. One credential is enough; but a wrong,
// empty or foreign one is not replaced by a valid second one.
func (g guard) identify(h http.Header) (tenant string, ok bool) {
	presented, ok := credentials(h)
	if !ok {
		return "", false
	}
	for _, t := range g.tenants { // all of them, always: how long it takes must not tell who is known
		if t.accepts(presented) {
			tenant = t.name
		}
	}
	return tenant, tenant != ""
}

func (d digests) accepts(presented map[scheme]digest) bool {
	all := 1
	for s, got := range presented {
		want, open := d.want[s]
		same := subtle.ConstantTimeCompare(got[:], want[:])
		if !open {
			same = 0
		}
		all &= same
	}
	return all == 1
}

// credentials reads what the request presents. A header that is there but holds nothing usable is not ok.
func credentials(h http.Header) (presented map[scheme]digest, ok bool) {
	presented = map[scheme]digest{}
	for s, name := range map[scheme]string{apiKey: "X-Api-Key", tenantID: "X-Tenant-Id", bearer: "Authorization"} {
		values, sent := h[name]
		if !sent {
			continue
		}
		if len(values) != 1 {
			return nil, false
		}
		value := values[0]
		if s == bearer {
			kind, token, _ := strings.Cut(value, " ")
			if !strings.EqualFold(kind, "Bearer") {
				return nil, false
			}
			value = token
		}
		if strings.TrimSpace(value) == "" {
			return nil, false
		}
		presented[s] = sha256.Sum256([]byte(value))
	}
	return presented, len(presented) > 0
}
