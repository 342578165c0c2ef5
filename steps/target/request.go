package target

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// ToAgent makes a request to an agent server. The body is sent as JSON; a []byte is sent as it is.
func (t *Target) ToAgent(base string, who Caller, method, path string, body any) client.Request {
	header := t.currentHeader(who)
	if planesSchemes[who.name] != "" && !t.takesPlanesCredentials(base) {
		header = http.Header{} // whatever was judged before: they are not sent
	}
	r := t.request(client.Request{Side: spec.AgentServer, Base: base, Method: method, Path: path, Header: header, Caller: t.sender(who, header),
		Trusted: who.User != nil || who.name == TheUser}, body)
	if r.Trusted || who.name == aStudioUser {
		t.renews(&r, func() http.Header { return t.currentHeader(who) })
	}
	return r
}

// ToControlPlane makes a request to the control plane by the asker. The body is sent as JSON; a []byte is sent as
// it is.
func (t *Target) ToControlPlane(who Asker, method, path string, body any) client.Request {
	header := t.Credentials(who)
	r := t.request(client.Request{Side: spec.ControlPlane, Base: t.Config.Target, Method: method, Path: path, Header: header, Caller: senderToPlane(who, header),
		Trusted: len(header) > 0 && (who == TheClient || IsScheme(who))}, body)
	if r.Trusted || who == AnotherTenant {
		t.renews(&r, func() http.Header { return t.Credentials(who) })
	}
	return r
}

// sender is who a caller is for the record.
func (t *Target) sender(who Caller, header http.Header) client.Caller {
	switch key := t.CredentialKey(who); {
	case len(header) == 0:
		return client.Caller{Kind: client.NoCredentials}
	case key != "":
		return client.Caller{Name: key}
	case who.name == anUnknownToken:
		return client.Caller{Kind: client.UnknownCredentials}
	}
	return client.Caller{}
}

func senderToPlane(who Asker, header http.Header) client.Caller {
	switch {
	case len(header) == 0:
		return client.Caller{Kind: client.NoCredentials}
	case who == UnknownKey:
		return client.Caller{Kind: client.UnknownCredentials}
	}
	return client.Caller{Name: string(who)}
}

func (t *Target) request(r client.Request, body any) client.Request {
	r.Timeout = t.Config.Timeouts.Request
	maps.Copy(r.Header, t.gateway(r))
	switch body := body.(type) {
	case nil:
	case []byte:
		r.Body = body
	default:
		r.Body = Encode(body)
	}
	if r.Body != nil {
		r.Header["Content-Type"] = []string{"application/json"}
	}
	t.renewsGateway(&r)
	return r
}

// Encode writes a value of maps, lists and scalars as JSON.
func Encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encoding a request body: %v", err)) // only values that were read from YAML or written here
	}
	return text
}

// Rejects tells whether a side refuses credentials with the status. Only an authentication handler may choose another one than 401 and 403.
func (t *Target) Rejects(side spec.Side, status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden ||
		side == spec.AgentServer && status == t.Config.Agent.RejectedStatus
}

// UnknownID is the id of nothing.
func UnknownID() string { return uuid.NewString() }
