package faults

import (
	"errors"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/agentconform/agentconform/reference"
)

// ProxiedAgent is the path below which [Before] serves the agent server.
const ProxiedAgent = "/agents/proxied"

// errInside is the error of a layer that changes more than what is sent over HTTP.
var errInside = errors.New("it changes what is inside the reference, and cannot stand before another server")

// Before puts layers before a server that runs at a URL: whatever of the interface it serves, its agent server below
// [ProxiedAgent] and all else at its own paths. transport sends the requests to the server; nil means
// [http.DefaultTransport]. It returns an error if a layer works only with the reference.
func Before(server *url.URL, transport http.RoundTripper, layers ...Layer) (http.Handler, error) {
	var o reference.Options
	for _, apply := range layers {
		apply(&o)
	}
	if len(o.WrapGraph)+len(o.WrapAgent)+len(o.WrapFixtures) > 0 || o.Pace != 0 {
		return nil, errInside
	}
	proxy := http.Handler(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Host = server.Host
			r.Out.Header.Del("Accept-Encoding") // rows read what is answered
		},
	})
	mounted := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, ProxiedAgent+"/") {
			http.StripPrefix(ProxiedAgent, proxy).ServeHTTP(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	for _, wrap := range o.WrapHTTP {
		mounted = wrap(mounted)
	}
	return mounted, nil
}
