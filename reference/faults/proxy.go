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

// errInside is returned for a layer that changes more than HTTP exchanges.
var errInside = errors.New("the deviation changes the inside of the reference and cannot be used with another server")

// Before returns a proxy that puts layers in front of the server at a URL. The server appears twice: at its own paths, and
// as an agent server below [ProxiedAgent]. transport sends the requests; nil means [http.DefaultTransport]. Before returns
// an error if a layer works only with the reference.
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
			r.Out.Header.Del("Accept-Encoding") // rows must be able to read the response
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
