package doctor

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// examineConnection says how the address of a key is reached, from the first answer to the probes: the proxy, TLS,
// redirects, and the clock.
func (x *examiner) examineConnection(e *Examination, key string, probes []*probe) {
	if proxy := x.route.ProxyOf(probes[0].request.Base); proxy != nil {
		from := "the environment"
		if x.target.Config.Proxy != "" {
			from = "the key proxy"
		}
		e.add(Fine, "proxy", fmt.Sprintf("requests to %s go through %s, from %s", key, proxy, from), "")
	}
	for _, p := range probes {
		if p.answer == nil {
			continue
		}
		if state := p.answer.TLS; state != nil && len(state.PeerCertificates) > 0 {
			x.examineTLS(e, key, state)
		}
		x.examineClock(e, p)
		if to := x.target.Redact.Text(p.answer.Forwarded); to != "" {
			found := called(p) + ": redirected to " + to + "; requests other than GET are not sent there"
			e.add(Noted, "redirect", found, "set "+key+" to "+baseOf(p, to))
		}
		return
	}
}

func (x *examiner) examineTLS(e *Examination, key string, state *tls.ConnectionState) {
	found := tls.VersionName(state.Version) + ", certificate " + client.Certificate(state.PeerCertificates[0])
	if state.NegotiatedProtocol == "h2" {
		found = "HTTP/2 over " + found
	}
	found = x.target.Redact.Excerpt(found)
	if x.target.Config.TLS.Insecure {
		e.add(Noted, "TLS of "+key, found+", not verified: tls.insecure is true", "set tls.ca, and remove tls.insecure")
		return
	}
	e.add(Fine, "TLS of "+key, found, "")
}

// examineClock compares the Date of an answer with the clock of this machine.
func (x *examiner) examineClock(e *Examination, p *probe) {
	const muchSkew = 30 * time.Second
	date, err := http.ParseTime(p.answer.Header.Get("Date"))
	if err != nil {
		return
	}
	skew, which := date.Sub(p.answer.Sent.Add(p.answer.Took)), "ahead of"
	if before := date.Sub(p.answer.Sent); before < 0 {
		skew, which = -before, "behind"
	}
	if skew >= muchSkew {
		found := fmt.Sprintf("%s: Date is %s, %s %s the clock of this machine", called(p), date.UTC().Format(time.DateTime),
			skew.Round(time.Second), which)
		e.add(Noted, "clock", found, "set both clocks by NTP: tokens and certificates are valid by the clock")
	}
}
