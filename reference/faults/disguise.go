package faults

import (
	"html"
	"net/http"
	"strings"
)

// disguised returns the faults that serve requests which are written so that they look like those of somebody else.
func disguised() []Fault {
	return []Fault{
		{
			Name: "slash-at-the-end-is-open", Breaks: "the control plane serves a path with a slash at its end without credentials", Fails: "CP-AUTH-7",
			Apply: compose(respelledAsOwner("get-deployment or list-revisions or get-revision"), respelling(true, slashAtTheEnd)),
		},
		{
			Name: "path-parameter-is-open", Breaks: "list revisions serves a path with a parameter without credentials", Fails: "CP-AUTH-7",
			Apply: compose(respelledAsOwner("list-revisions"), respelling(true, pathParameter)),
		},
		{
			Name: "capital-letters-are-open", Breaks: "the agent server serves a path in capital letters without credentials", Fails: "AS-AUTH-8",
			Apply: compose(respelledAsOwner("agent-server"), respelling(true, capitalLetters)),
		},
		{
			Name: "doubled-slash-lists-threads", Breaks: "list threads serves a path with a doubled slash without credentials", Fails: "AS-AUTH-8",
			Apply: compose(respelledAsOwner("list-threads"), respelling(true, doubledSlash)),
		},
	}
}

// disguisesIgnored are harmless answers to such requests.
func disguisesIgnored() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "paths-in-any-spelling", Place: "paths", Differs: "paths are served in any case, with a slash at the end, doubled slashes and parameters",
			Apply: respelling(false, slashAtTheEnd, doubledSlash, capitalLetters, pathParameter),
		},
		{
			Name: "unknown-paths-are-a-page", Place: "paths", Differs: "a path that the interface does not have is answered with 200 and a page that repeats it",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				for _, plain := range []func(string) string{slashAtTheEnd, doubledSlash, capitalLetters, pathParameter} {
					if plain(r.URL.Path) != r.URL.Path {
						w.Header().Set("Content-Type", "text/html; charset=utf-8")
						_, _ = w.Write([]byte("<p>Welcome to " + html.EscapeString(r.URL.Path) + "</p>")) // the client may be gone
						return
					}
				}
				next.ServeHTTP(w, r)
			}),
		},
	}
}

// What a path is without another spelling.
func slashAtTheEnd(path string) string  { return strings.TrimSuffix(path, "/") }
func doubledSlash(path string) string   { return strings.ReplaceAll(path, "//", "/") }
func capitalLetters(path string) string { return capitals.Replace(path) }
func pathParameter(path string) string  { return strings.Replace(path, ";x=1", "", 1) }

var capitals = strings.NewReplacer("/V2", "/v2", "/DEPLOYMENTS", "/deployments", "/REVISIONS", "/revisions", "/THREADS", "/threads",
	"/RUNS", "/runs", "/JOIN", "/join", "/STATE", "/state")

// respelling serves other spellings of a path as the path, and may mark them.
func respelling(mark bool, plain ...func(path string) string) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		path := r.URL.Path
		for _, p := range plain {
			path = p(path)
		}
		if path != r.URL.Path {
			r = withPath(r, path)
			if mark {
				r.Header.Set("X-Was-Respelled", "1")
			}
		}
		next.ServeHTTP(w, r)
	})
}

// respelledAsOwner serves marked requests without credentials as if they were the owner's.
func respelledAsOwner(operations string) Layer {
	return changing([]string{operations, "header.X-Was-Respelled is present", "caller without-credentials", "status = 401"}, "as owner")
}
