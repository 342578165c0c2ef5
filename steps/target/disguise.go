package target

import (
	"net/http"
	"strings"

	"github.com/agentconform/agentconform/steps/outcome"
)

// respelled are ways to write a path of the interface that a server may route to the same operation, while what checks its
// credentials knows the path in one form only.
var respelled = map[string]func(path string) string{
	"a slash at the end": func(path string) string { return path + "/" },
	"a doubled slash":    func(path string) string { return "/" + path },
	"capital letters":    func(path string) string { return strings.ToUpper(path) },
	"a path parameter": func(path string) string { // of the first segment: in another one it is part of an id
		first, rest, _ := strings.Cut(path[1:], "/")
		return strings.TrimSuffix("/"+first+";x=1/"+rest, "/")
	},
}

// Respelled writes a path in another way, as a sentence names it. The ids in it stay as they are.
func Respelled(path, how string, ids ...string) string {
	path = respelled[how](path)
	for _, id := range ids {
		path = strings.ReplaceAll(path, strings.ToUpper(id), id)
	}
	return path
}

// Claim returns headers with which a client claims more than its credentials say, as a sentence names them: servers behind a proxy
// that sets them, or with an entrance for their makers, believe some. Headers that the configuration gives a meaning are left out;
// where none is left, the error skips the scenario.
func (t *Target) Claim(what string) (http.Header, error) {
	user := "admin"
	if len(t.Config.Users) > 0 {
		user = t.Config.Users[0].Identity
	}
	claims := map[string]http.Header{
		"headers that name the user": {"X-User-Id": {user}, "X-User": {user}, "X-Owner": {user}, "X-Remote-User": {user}, "Remote-User": {user},
			"X-Forwarded-User": {user}, "X-Auth-Request-User": {user}, "X-Authenticated-User": {user}},
		"headers that claim a studio user or an administrator": {"X-Studio-User": {"true"}, "X-Auth-Scheme": {"studio"}, "X-Admin": {"true"}, "X-Role": {"admin"}},
		"headers that claim a request of this machine":         {"X-Forwarded-For": {"127.0.0.1"}, "X-Real-Ip": {"127.0.0.1"}, "X-Internal": {"true"}},
		"headers that override the path":                       {"X-Original-Url": {"/"}, "X-Rewrite-Url": {"/"}},
		"a header that overrides the method":                   {"X-Http-Method-Override": {"OPTIONS"}},
	}
	header := claims[what]
	for _, name := range t.meaningfulHeaders() {
		header.Del(name)
	}
	if len(header) == 0 {
		return nil, outcome.Inapplicable("users", "the configuration gives these headers a meaning of their own")
	}
	return header, nil
}

// meaningfulHeaders are those that the configuration sends.
func (t *Target) meaningfulHeaders() []string {
	c := t.Config
	names := append(gatewayNames(c), c.CredentialHeaders.APIKey, c.CredentialHeaders.TenantID, c.CredentialHeaders.Bearer)
	for name := range c.Agent.StudioHeaders {
		names = append(names, name)
	}
	for _, u := range c.Users {
		for name := range u.Headers {
			names = append(names, name)
		}
	}
	return names
}
