package target

import (
	"net/url"
	"strings"

	"github.com/agentconform/agentconform/steps/outcome"
)

// planesSchemes are the schemes of the control plane with whose credentials callers try the agent server.
var planesSchemes = map[string]string{aPlanesKey: SchemeAPIKey, aPlanesTenant: SchemeTenantID, aPlanesBearer: SchemeBearer}

// WithPlanesCredential tells whether a caller, by its name, tries the agent server with a credential of the control plane.
func WithPlanesCredential(name string) bool { return planesSchemes[name] != "" }

// planesCaller is a caller with a credential of the control plane, sent as there, and with nothing else. Where the address of
// the agent server is known and the credentials may not be sent there, the error skips the scenario.
func (t *Target) planesCaller(name string) (Caller, error) {
	scheme := planesSchemes[name]
	value, key := t.Credential(scheme)
	switch base := t.AgentAddress(); {
	case !t.Config.SeparateCredentials:
		return Caller{}, outcome.Needs("separate_credentials")
	case value == "":
		return Caller{}, outcome.Needs(key)
	case scheme == SchemeTenantID && !t.Config.TenantIDAlone:
		return Caller{}, outcome.Inapplicable("tenant_id_alone", "the tenant ID is no credential by itself: it is accepted with the API key only")
	case base != "" && !t.takesPlanesCredentials(base):
		return Caller{}, outcome.Needs("agent_target", ": credentials of the control plane are sent only to addresses that the configuration names")
	}
	return Caller{name: name, Header: t.Credentials(Asker(scheme))}, nil
}

// takesPlanesCredentials tells whether credentials of the control plane may be sent to an agent server: the configuration names
// its address, or its origin is that of the control plane.
func (t *Target) takesPlanesCredentials(base string) bool {
	if base == t.Config.AgentTarget {
		return true
	}
	a, err := url.Parse(base)
	b, wrong := url.Parse(t.Config.Target)
	return err == nil && wrong == nil && a.Host != "" && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}
