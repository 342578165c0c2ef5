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

// trouble says what is wrong with an answer that no server of the interface gives, and what to do about it; found is
// empty where there is nothing. The key names the address in the configuration.
func (x *examiner) trouble(p, nobody *probe, key string) (finding State, found, remedy string) {
	a := p.answer
	base := p.request.Base
	var busy *client.Busy
	switch {
	case errors.As(p.err, &busy):
		return Problem, fmt.Sprintf("%s asks to come back later (status %d)", base, busy.Status), "wait, or lift its rate limit for the tests"
	case a == nil:
		found, remedy = x.silence(p, key)
		return Problem, found, remedy
	case slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, a.Status):
		return Problem, fmt.Sprintf("%s is a gateway with nothing behind it (status %d)", base, a.Status), "start the server behind it, or correct " + key
	case a.Status >= 500:
		return lessIf(refusesCaller(nobody)), fmt.Sprintf("%s fails with status %d", base, a.Status), "look into the target's log"
	case a.Status >= 300 && a.Status < 400:
		to := x.target.Redact.Text(a.Header.Get("Location"))
		return Problem, fmt.Sprintf("%s redirects to %.200q (status %d)", base, to, a.Status), "if that is the target, give its base address as " + key
	case a.Status == http.StatusBadRequest && strings.HasPrefix(base, "http:") && bytes.Contains(a.Body, []byte("HTTPS")):
		return Problem, base + " wants https", "give https:// in " + key
	case !refusesCaller(p) && isPage(a):
		return lessIf(refusesCaller(nobody)), fmt.Sprintf("%s answers with an HTML page (status %d)", base, a.Status), baseAddress(key)
	}
	return Fine, "", ""
}

func isPage(a *client.Answer) bool {
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/html") || bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
}

// silence says why no answer came, and what to do.
func (x *examiner) silence(p *probe, key string) (found, remedy string) {
	var dns *net.DNSError
	var none *client.NoAnswer
	correct := "correct " + key + ", or start the target"
	switch err := p.err; {
	case errors.As(err, &dns):
		remedy = "correct the name in " + key
	case errors.Is(err, syscall.ECONNREFUSED):
		remedy = correct
	case errors.As(err, &none) && none.Remedy != "":
		remedy = none.Remedy
	case errors.Is(err, errBusy):
		remedy = "wait, or lift its rate limit for the tests"
	case errors.As(err, &none) && none.Timeout:
		remedy = "look for a firewall or a proxy between, or raise timeouts.request"
	default:
		remedy = correct
	}
	return p.request.Base + " does not answer: " + x.failure(p), remedy
}

// failure says why no answer came.
func (x *examiner) failure(p *probe) string {
	var none *client.NoAnswer
	switch {
	case errors.Is(p.err, errBusy):
		return "it asks to wait, again and again, for more than " + brief(x.target.Config.Timeouts.Request)
	case errors.As(p.err, &none):
		return x.target.Redact.Excerpt(none.Cause)
	}
	return p.err.Error()
}
