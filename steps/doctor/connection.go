package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// Bounds beyond which a clock or a certificate is worth a note.
const (
	muchSkew   = 30 * time.Second
	soonExpiry = 14 * 24 * time.Hour
)

// examineConnection says how the address of a key is reached, from the answers to the probes.
func (x *examiner) examineConnection(e *Examination, key string, probes []*probe) {
	answered := slices.DeleteFunc(slices.Clone(probes), func(p *probe) bool { return p.answer == nil })
	if proxy := x.route.ProxyOf(probes[0].request.Base); proxy != nil {
		from := "the environment"
		if x.target.Config.Proxy != "" {
			from = "the key proxy"
		}
		e.add(Fine, "proxy", fmt.Sprintf("requests to %s go through %s, from %s", key, proxy, from), "")
	}
	if len(answered) == 0 {
		return
	}
	first := answered[0]
	x.examineTLS(e, key, first.answer.TLS, slices.ContainsFunc(answered, func(p *probe) bool { return p.answer.Asked }))
	x.examineClock(e, first)
	if to := first.answer.Forwarded; to != "" {
		e.Checks = append(e.Checks, Check{State: Noted, Subject: "redirect", Party: client.Configuration,
			Found:  called(first) + ": redirected to " + x.target.Redact.Text(to) + "; requests other than GET are not sent there",
			Remedy: "set " + key + " to " + x.target.Redact.Text(baseOf(first, to))})
	}
}

// examineTLS describes the connection, and tells what is missing or ends soon.
func (x *examiner) examineTLS(e *Examination, key string, state *tls.ConnectionState, asked bool) {
	if state == nil || len(state.PeerCertificates) == 0 {
		return
	}
	c, leaf := x.target.Config.TLS, state.PeerCertificates[0]
	check := func(s State, party client.Party, found, remedy string) {
		e.Checks = append(e.Checks, Check{State: s, Subject: "TLS of " + key, Found: x.target.Redact.Excerpt(found), Remedy: remedy, Party: party})
	}
	about := tls.VersionName(state.Version) + ", certificate " + client.Certificate(leaf)
	if state.NegotiatedProtocol == "h2" {
		about = "HTTP/2 over " + about
	}
	switch left := time.Until(leaf.NotAfter); {
	case c.Insecure:
		check(Noted, client.Configuration, about+", not verified: tls.insecure is true", "set tls.ca, and remove tls.insecure")
	case left < soonExpiry:
		check(Noted, client.Server, about+", in "+left.Round(time.Hour).String(), "renew the certificate")
	default:
		check(Fine, "", about, "")
	}
	switch {
	case asked && c.Cert == "":
		check(Noted, client.Configuration, "the server asks for a client certificate, and answers without one", "set tls.cert and tls.key if requests are refused")
	case asked:
		check(Fine, "", "the server asks for a client certificate, and got that of tls.cert", "")
	case c.Cert != "":
		check(Noted, client.Configuration, "tls.cert is set, and the server does not ask for a client certificate", "")
	}
	if len(x.route.TLS.Certificates) > 0 && x.route.TLS.Certificates[0].Leaf != nil && time.Until(x.route.TLS.Certificates[0].Leaf.NotAfter) < soonExpiry {
		check(Noted, client.Configuration, "the client certificate is valid until "+x.route.TLS.Certificates[0].Leaf.NotAfter.UTC().Format(time.DateTime)+" UTC", "renew the certificate in tls.cert")
	}
}

// examineClock compares the Date of an answer with the clock of this machine.
func (x *examiner) examineClock(e *Examination, p *probe) {
	date, err := http.ParseTime(p.answer.Header.Get("Date"))
	if err != nil {
		return
	}
	before, after := date.Sub(p.answer.Sent), date.Sub(p.answer.Sent.Add(p.answer.Took))
	skew, which := after, "ahead of"
	if before < 0 {
		skew, which = -before, "behind"
	}
	if skew < muchSkew {
		return
	}
	e.Checks = append(e.Checks, Check{State: Noted, Subject: "clock", Party: client.Either,
		Found:  fmt.Sprintf("%s: Date is %s, %s %s the clock of this machine", called(p), date.UTC().Format(time.DateTime), skew.Round(time.Second), which),
		Remedy: "set both clocks by NTP: tokens and certificates are valid by the clock"})
}

// examinePrefix looks for the interface at other paths of the same host, where something else is at the configured one. The
// requests have no credentials.
func (x *examiner) examinePrefix(ctx context.Context, e *Examination, key string, nobody *probe) error {
	var probes []*probe
	for _, base := range otherBases(nobody.request.Base) {
		p := &probe{request: nobody.request}
		p.request.Base = base
		probes = append(probes, p)
	}
	if err := x.sendAll(ctx, probes...); err != nil {
		return err
	}
	for _, p := range probes {
		if p.answer == nil || !p.answer.IsJSON() || isPage(p.answer) || p.answer.Status >= http.StatusInternalServerError {
			continue
		}
		e.Checks = append(e.Checks, Check{State: Noted, Subject: "path prefix", Party: client.Configuration,
			Found: fmt.Sprintf("%s without credentials: status %d with JSON", called(p), p.answer.Status), Remedy: "set " + key + " to " + p.request.Base})
		return nil
	}
	return nil
}

// otherBases are a base address without its last segments of the path, and with the usual one.
func otherBases(base string) (all []string) {
	const most, usual = 4, "/api"
	u, err := url.Parse(base)
	if err != nil {
		return nil
	}
	rest := base
	for len(all) < most {
		at := strings.LastIndexByte(rest, '/')
		if at < len(u.Scheme)+len("://x") {
			break
		}
		rest = rest[:at]
		all = append(all, rest)
	}
	if !strings.HasSuffix(base, usual) {
		all = append(all, base+usual)
	}
	return all
}
