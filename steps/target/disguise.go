package target

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Disguise changes a request so that a server may attribute it to another user. Either its headers claim more than the
// credentials allow, or its path has a different form that the server may route to the same operation without checking
// the credentials.
type Disguise struct {
	Claim   http.Header
	written func(path string) []string
}

// Paths returns the forms of a path.
func (d Disguise) Paths(path string) []string {
	if d.written == nil {
		return []string{path}
	}
	return slices.DeleteFunc(d.written(path), func(form string) bool { return form == path })
}

// publicPaths are paths that many servers serve without credentials.
var publicPaths = []string{"/docs", "/ok", "/health", "/static"}

// respellings are the forms of a path, as the steps name them. They do not change the ids in the path, except in the last
// segment if a suffix is added.
var respellings = map[string]func(path string) []string{
	"a slash at the end":     func(path string) []string { return []string{path + "/"} },
	"a doubled slash":        func(path string) []string { return []string{"/" + path} },
	"a doubled slash within": func(path string) []string { return []string{afterFirst(path, "/")} },
	"a path parameter":       func(path string) []string { return []string{afterFirst(path, ";x=1")} },
	"a path parameter at the end": func(path string) []string {
		return []string{path + ";x=1", path + ";x.png"}
	},
	"another version": func(path string) []string { // an older one may be served by the same code
		return []string{strings.Replace(path, "/v2/", "/v1/", 1), strings.Replace(path, "/v2/", "/v3/", 1),
			strings.Replace(path, "/v2/", "/", 1), strings.Replace(path, "/v2/", "/api/v2/", 1)}
	},
	"a query": func(path string) []string { // of a health check, of a page, and with a value that names public files
		return []string{path + "?health", path + "?limit=10", path + "?next=/static/x.png"}
	},
	"a file extension": func(path string) []string { // images may be public, and routers remove the name of a format
		return []string{path + ".png", path + ".json"}
	},
	"percent-encoded letters": func(path string) []string { // they mean the same (RFC 3986, section 6.2.2)
		return []string{strings.NewReplacer("threads", "thre%61ds", "deployments", "deploym%65nts").Replace(path)}
	},
	"dot segments": func(path string) []string { return []string{"/." + path, "/x/.." + path, path + "/."} },
	"dot segments after a public path": func(path string) (forms []string) {
		for _, public := range publicPaths {
			forms = append(forms, public+"/.."+path, public+"/%2e%2e"+path, public+"/..;"+path)
		}
		return forms
	},
}

// afterFirst inserts a text after the first segment of a path. In a later segment it would be part of an id.
func afterFirst(path, text string) string {
	first, rest, hasMore := strings.Cut(path[1:], "/")
	if !hasMore {
		return "/" + first + text
	}
	return "/" + first + text + "/" + rest
}

// Disguise returns the disguise that a step names. ids are the ids in the paths. An error skips the scenario.
func (t *Target) Disguise(how string, ids ...string) (Disguise, error) {
	if written := respellings[how]; written != nil {
		return Disguise{written: written}, nil
	}
	if how == "capital letters" {
		return Disguise{written: func(path string) []string { return []string{inCapitals(path, ids)} }}, nil
	}
	form, isForm := strings.CutPrefix(how, "ids ")
	if !isForm {
		claim, err := t.claim(how)
		return Disguise{Claim: claim}, err
	}
	var replaced []string
	for _, id := range ids {
		if other := exchange.InForm(id, form); other != "" {
			replaced = append(replaced, url.PathEscape(id), url.PathEscape(other))
		}
	}
	if len(replaced) == 0 {
		return Disguise{}, outcome.Inapplicable("ids with this form", "no id of the run or deployment has another form %s", form)
	}
	inForm := strings.NewReplacer(replaced...)
	return Disguise{written: func(path string) []string { return []string{inForm.Replace(path)} }}, nil
}

// inCapitals returns a path in capital letters, except its ids.
func inCapitals(path string, ids []string) string {
	path = strings.ToUpper(path)
	for _, id := range ids {
		path = strings.ReplaceAll(path, strings.ToUpper(id), id)
	}
	return path
}

// claim returns headers that claim more than the credentials allow, as the steps name them. They are trusted by some
// servers behind a proxy that sets such headers, and by servers with a back door. Headers that the configuration uses are
// removed. If no header remains, the error skips the scenario.
func (t *Target) claim(what string) (http.Header, error) {
	user := "admin"
	if len(t.Config.Users) > 0 {
		user = t.Config.Users[0].Owner()
	}
	if what == "the API key of the control plane" {
		who, err := t.planeCaller(planeKeyCaller)
		return who.Header, err
	}
	claims := map[string]http.Header{
		"headers that name the user": {"X-User-Id": {user}, "X-User": {user}, "X-Owner": {user}, "X-Remote-User": {user},
			"Remote-User": {user}, "X-Forwarded-User": {user}, "X-Auth-Request-User": {user}, "X-Authenticated-User": {user},
			"Cookie": {"user=" + url.QueryEscape(user)}},
		"headers that claim a studio user or an administrator": {"X-Studio-User": {"true"},
			schemeHeader: {cmp.Or(t.studioScheme(), "studio")}, "X-Admin": {"true"}, "X-Role": {"admin"}},
		"headers that claim a request of this machine": {"X-Forwarded-For": {"127.0.0.1"}, "X-Real-Ip": {"127.0.0.1"},
			"X-Internal": {"true"}},
		"headers that override the path":     {"X-Original-Url": {"/"}, "X-Rewrite-Url": {"/"}},
		"a header that overrides the method": {"X-Http-Method-Override": {"OPTIONS"}},
	}
	header := t.unused(claims[what])
	if len(header) == 0 {
		return nil, outcome.Inapplicable("users", "the configuration uses all of these headers")
	}
	return header, nil
}

// schemeHeader names the way in which a caller authenticates. It is not a credential.
const schemeHeader = "X-Auth-Scheme"

// studioScheme returns the value with which studio users name their scheme. It returns "" if they do not name one, or
// send no other header that could be their credential.
func (t *Target) studioScheme() string {
	studio := t.CallerWith(studioKey).Header
	if len(studio) < 2 {
		return ""
	}
	return studio.Get(schemeHeader)
}

// unused removes the headers that the configuration uses. It keeps the scheme of studio users, which must not give
// access without their credential.
func (t *Target) unused(header http.Header) http.Header {
	c := t.Config
	used := append(gatewayNames(c), c.CredentialHeaders.APIKey, c.CredentialHeaders.TenantID, c.CredentialHeaders.Bearer)
	for _, key := range t.UserKeys() {
		for name := range t.CallerWith(key).Header {
			if key != studioKey || name != schemeHeader || t.studioScheme() == "" {
				used = append(used, name)
			}
		}
	}
	for _, name := range used {
		header.Del(name)
	}
	return header
}

// ReturnedCookie is the disguise with the cookies in responses to valid credentials, and no other credential.
const ReturnedCookie = "a cookie that the server has set"

// WithCookiesOf returns the disguise [ReturnedCookie]. If the responses set no cookie, the error skips the scenario.
func (t *Target) WithCookiesOf(responses ...*exchange.Response) (Disguise, error) {
	values := map[string]string{}
	for _, a := range responses {
		for _, cookie := range (&http.Response{Header: a.Header}).Cookies() {
			values[cookie.Name] = cookie.Value
		}
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, name+"="+values[name])
	}
	if len(pairs) == 0 {
		return Disguise{}, outcome.Inapplicable("cookies", "the target sets no cookie")
	}
	header := t.unused(http.Header{"Cookie": {strings.Join(pairs, "; ")}})
	if len(header) == 0 {
		return Disguise{}, outcome.Inapplicable("cookies", "the configuration uses the header Cookie")
	}
	return Disguise{Claim: header}, nil
}
