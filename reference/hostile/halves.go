package hostile

import (
	"net"
	"net/http"

	"github.com/agentconform/agentconform/reference/faults"
)

// halves are targets of which one half is as it should be.
func halves() []Mode {
	of := func(agent bool, name, does string, verdict Verdict, because string, answer answering) Mode {
		return Mode{Name: name, Does: does, Verdict: verdict, Because: because, Layer: half(agent, answer)}
	}
	const refused = "credentials that are refused everywhere may be wrong"
	return []Mode{
		of(true, "agent-closes", "has an agent server that closes all connections", NonConformant, "", connection(func(net.Conn) {})),
		of(true, "agent-not-found", "has an agent server that knows no path", NonConformant, "", body(404, `{"detail":"Not Found"}`)),
		of(true, "agent-fails", "has an agent server that fails", NonConformant, "", body(500, `{"detail":"x"}`)),
		of(true, "agent-refuses", "has an agent server that refuses everyone", Incomplete, refused, body(401, `{"detail":"Invalid credentials"}`)),
		of(true, "agent-silent", "has an agent server that does not answer", NonConformant, "", silent),
		of(true, "agent-endless", "has an agent server whose bodies do not end", NonConformant, "", endless),
		of(true, "agent-empty", "has an agent server that answers {}", NonConformant, "", body(200, `{}`)),
		of(true, "agent-page", "has a web site as agent server", NonConformant, "", typed(200, "text/html", "<!doctype html>"+script)),
		of(true, "agent-redirects", "has an agent server that redirects all", NonConformant, "", redirect(307, func(r *http.Request) string { return r.URL.String() })),
		of(true, "agent-bomb", "has an agent server that answers with millions of values", NonConformant, "", lazily(200, func() string { return filled(`[`, `{},`, `]`) })),
		of(false, "plane-refuses", "has a control plane that refuses everyone", Incomplete, refused, body(401, `{"detail":"Unauthorized"}`)),
		of(false, "plane-forbids", "has a control plane that forbids all", Incomplete, refused, body(403, `{"detail":"Forbidden"}`)),
		of(false, "plane-fails", "has a control plane that fails", NonConformant, "", body(500, `{"detail":"x"}`)),
		of(false, "plane-bomb", "has a control plane that answers with millions of values", NonConformant, "", lazily(200, func() string { return filled(`[`, `{},`, `]`) })),
		of(false, "plane-silent", "has a control plane that does not answer", Incomplete, "nothing was seen of the target", silent),
	}
}

// nulls are servers that implement nothing.
func nulls() []Mode {
	var all []Mode
	for _, n := range faults.NullImplementations() {
		handler := n.Handler()
		verdict, because := NonConformant, ""
		if reason := undecided[n.Name]; reason != "" {
			verdict, because = Incomplete, reason
		}
		all = append(all, Mode{Name: n.Name, Does: n.Is, Verdict: verdict, Because: because, Layer: func(http.Handler) http.Handler { return handler }})
	}
	return all
}

// undecided says of null implementations why nothing can be said against them.
var undecided = map[string]string{
	"everything-is-unauthorized": "credentials that are refused everywhere may be wrong",
	"everything-is-rate-limited": "nothing was judged",
	"slow-body":                  "no answer came",
}
