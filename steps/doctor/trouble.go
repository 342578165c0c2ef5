package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"github.com/agentconform/agentconform/steps/client"
)

// trouble describes an answer that no server of the interface gives, or that none came, with a remedy; found is empty
// where nothing is wrong. The key names the address in the configuration.
func (x *examiner) trouble(p, nobody *probe, key string) (finding State, found, remedy string) {
	a := p.answer
	base, call := p.request.Base, called(p)+": "
	var busy *client.Busy
	switch {
	case errors.As(p.err, &busy):
		return Problem, fmt.Sprintf("%sstatus %d, asks to wait", call, busy.Status), rateLimit
	case a == nil:
		found, remedy = x.silence(p, key)
		return Problem, found, remedy
	case slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, a.Status):
		return Problem, fmt.Sprintf("%sstatus %d: a gateway without a server behind it", call, a.Status), "start the server behind it, or correct " + key
	case a.Status >= 500:
		return lessIf(refusesCaller(nobody)), fmt.Sprintf("%sstatus %d", call, a.Status), "check the target's log"
	case a.Status >= 300 && a.Status < 400:
		to := x.target.Redact.Text(a.Header.Get("Location"))
		return Problem, fmt.Sprintf("%sstatus %d, redirect to %.200q", call, a.Status, to), "if that is the target, set " + key + " to its base URL"
	case a.Status == http.StatusBadRequest && strings.HasPrefix(base, "http:") && bytes.Contains(a.Body, []byte("HTTPS")):
		return Problem, fmt.Sprintf("%sstatus %d: the server expects https", call, a.Status), "set " + key + " to an https:// URL"
	case !refusesCaller(p) && isPage(a):
		return lessIf(refusesCaller(nobody)), fmt.Sprintf("%sexpected JSON, got status %d with an HTML page", call, a.Status), baseAddress(key)
	}
	return Fine, "", ""
}

const rateLimit = "wait, or lift the target's rate limit for the tests"

func isPage(a *client.Answer) bool {
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/html") || bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
}

// silence says why no answer came, with a remedy.
func (x *examiner) silence(p *probe, key string) (found, remedy string) {
	var dns *net.DNSError
	var none *client.NoAnswer
	correct := "start the target, or correct " + key
	switch err := p.err; {
	case errors.As(err, &dns):
		remedy = "correct the host name in " + key
	case errors.Is(err, syscall.ECONNREFUSED):
		remedy = correct
	case errors.As(err, &none) && none.Remedy != "":
		remedy = none.Remedy
	case errors.Is(err, errBusy):
		remedy = rateLimit
	case errors.As(err, &none) && none.Timeout:
		remedy = "check firewalls and proxies, or raise timeouts.request"
	default:
		remedy = correct
	}
	return called(p) + ": " + x.failure(p), remedy
}

// failure says why no answer came.
func (x *examiner) failure(p *probe) string {
	var none *client.NoAnswer
	switch {
	case errors.Is(p.err, errBusy):
		return "asks to wait for more than " + brief(x.target.Config.Timeouts.Request)
	case errors.As(p.err, &none):
		return x.target.Redact.Excerpt(none.Cause)
	}
	return p.err.Error()
}
