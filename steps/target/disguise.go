package target

import (
	"net/http"
	"strings"

	"github.com/agentconform/agentconform/steps/outcome"
)

// Respelled writes a path of the interface in another way, as a sentence names it, that a server may route to the same
// operation, while what checks its credentials knows the path in one form only. The ids in it stay as they are.
func Respelled(path, how string, ids ...string) string {
	switch how {
	case "a slash at the end":
		return path + "/"
	case "a doubled slash":
		return "/" + path
	case "a path parameter": // of the first segment: in another one it is part of an id
		first, rest, _ := strings.Cut(path[1:], "/")
		return strings.TrimSuffix("/"+first+";x=1/"+rest, "/")
	}
	path = strings.ToUpper(path) // "capital letters"
	for _, id := range ids {
		path = strings.ReplaceAll(path, strings.ToUpper(id), id)
	}
	return path
}

// Claim returns headers with which a client claims more than its credentials say, as a sentence names them: servers
// behind a proxy that sets them, or with an entrance for their makers, believe some. Headers that the configuration
// gives a meaning are left out; where none is left, the error skips the scenario.
func (t *Target) Claim(what string) (http.Header, error) {
	user := "admin"
	if len(t.Config.Users) > 0 {
		user = t.Config.Users[0].Identity
	}
	if what == "the API key of the control plane" {
		who, err := t.planesCaller(aPlanesKey)
		return who.Header, err
	}
	claims := map[string]http.Header{
		"headers that name the user": {"X-User-Id": {user}, "X-User": {user}, "X-Owner": {user}, "X-Remote-User": {user},
			"Remote-User": {user}, "X-Forwarded-User": {user}, "X-Auth-Request-User": {user}, "X-Authenticated-User": {user}},
		"headers that claim a studio user or an administrator": {"X-Studio-User": {"true"}, "X-Auth-Scheme": {"studio"},
			"X-Admin": {"true"}, "X-Role": {"admin"}},
		"headers that claim a request of this machine": {"X-Forwarded-For": {"127.0.0.1"}, "X-Real-Ip": {"127.0.0.1"},
			"X-Internal": {"true"}},
		"headers that override the path":     {"X-Original-Url": {"/"}, "X-Rewrite-Url": {"/"}},
		"a header that overrides the method": {"X-Http-Method-Override": {"OPTIONS"}},
	}
	header, c := claims[what], t.Config
	meant := append(gatewayNames(c), c.CredentialHeaders.APIKey, c.CredentialHeaders.TenantID, c.CredentialHeaders.Bearer)
	for _, key := range t.UserKeys() {
		for name := range t.CallerWith(key).Header {
			meant = append(meant, name)
		}
	}
	for _, name := range meant {
		header.Del(name)
	}
	if len(header) == 0 {
		return nil, outcome.Inapplicable("users", "the configuration gives these headers a meaning of their own")
	}
	return header, nil
}
