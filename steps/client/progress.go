package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http/httptrace"
	"sync/atomic"
)

// Stage is how far a request got.
type Stage string

// The stages of a request, in their order.
const (
	StageDNS   Stage = "DNS"   // the host name was not resolved
	StageProxy Stage = "proxy" // the proxy was not reached, or does not connect
	StageTCP   Stage = "TCP"   // no connection to the address, or to the socket
	StageTLS   Stage = "TLS"   // no secure connection
	StageHTTP  Stage = "HTTP"  // connected, and no valid answer
)

// progress is what was seen of a request while it was sent. A server that refuses a client ends the connection, and not
// each of the requests on it gets the reason: the client keeps which hosts have asked for a certificate and answered
// nothing.
type progress struct {
	client        *Client
	host          string // with the port
	reused, began atomic.Bool
	stage         atomic.Pointer[Stage]
}

type progressKey struct{}

// showing returns the first certificate that a server takes, as crypto/tls does, and notes that one was asked for.
func showing(all []tls.Certificate) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(wanted *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if p, is := wanted.Context().Value(progressKey{}).(*progress); is {
			p.client.secured.LoadOrStore(p.host, true)
		}
		for i := range all {
			if wanted.SupportsCertificate(&all[i]) == nil {
				return &all[i], nil
			}
		}
		return new(tls.Certificate), nil
	}
}

func (p *progress) watch(ctx context.Context) context.Context {
	at := func(s Stage) { p.stage.Store(&s) }
	at(StageTCP)
	return httptrace.WithClientTrace(context.WithValue(ctx, progressKey{}, p), &httptrace.ClientTrace{
		DNSStart:             func(httptrace.DNSStartInfo) { at(StageDNS) },
		ConnectStart:         func(string, string) { at(StageTCP) },
		TLSHandshakeStart:    func() { at(StageTLS) },
		GotConn:              func(i httptrace.GotConnInfo) { p.reused.Store(i.Reused); at(StageHTTP) },
		GotFirstResponseByte: func() { p.began.Store(true) },
	})
}

// interrupted is an error with what was seen before.
type interrupted struct {
	error
	stage Stage
	began bool // an answer began
	asked bool // the server asked for a client certificate, and has answered nothing
}

func (e *interrupted) Unwrap() error { return e.error }

func (p *progress) failed(err error) error {
	asked, _ := p.client.secured.Load(p.host)
	return &interrupted{err, *p.stage.Load(), p.began.Load(), asked == any(true)}
}

// streamError is the error of net/http for a stream of HTTP/2 that was reset: net/http fills in a type with these
// fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "the HTTP/2 stream was reset" }

func isReset(err error) bool { return errors.As(err, new(streamError)) }
