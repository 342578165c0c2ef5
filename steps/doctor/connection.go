package doctor

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// examineConnection says how the address of a key is reached, from the first answer to the probes: the proxy, TLS,
// redirects, and the clock.
func (x *examiner) examineConnection(key string, probes []*probe) {
	if proxy := x.route.ProxyOf(probes[0].request.Base); proxy != nil {
		from := "the environment"
		if x.target.Config.Proxy != "" {
			from = "the key proxy"
		}
		x.add(Fine, "proxy", fmt.Sprintf("requests to %s go through %s, from %s", key, proxy, from), "")
	}
	first := slices.IndexFunc(probes, func(p *probe) bool { return p.answer != nil })
	if first < 0 {
		return
	}
	p := probes[first]
	if state := p.answer.TLS; state != nil && len(state.PeerCertificates) > 0 {
		found := tls.VersionName(state.Version) + ", certificate " + client.Certificate(state.PeerCertificates[0])
		found = x.target.Redact.Excerpt(found)
		if x.target.Config.TLS.Insecure {
			found += ", not verified: tls.insecure is true"
			x.add(Noted, "TLS of "+key, found, "set tls.ca, and remove tls.insecure")
		} else {
			x.add(Fine, "TLS of "+key, found, "")
		}
	}
	x.examineClock(p)
	if to := x.target.Redact.Text(p.answer.Forwarded); to != "" {
		found := p.called() + ": redirected to " + to + "; requests other than GET are not sent there"
		x.add(Noted, "redirect", found, "set "+key+" to "+baseOf(p, to))
	}
}

// examineClock compares the Date of an answer with the clock of this machine.
func (x *examiner) examineClock(p *probe) {
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
		x.add(Noted, "clock", fmt.Sprintf("%s: Date is %s, %s %s the clock of this machine", p.called(),
			date.UTC().Format(time.DateTime), skew.Round(time.Second), which),
			"set both clocks by NTP: tokens and certificates are valid by the clock")
	}
}
