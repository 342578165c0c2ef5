package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agentconform/agentconform/steps/exchange"
)

// noResponse returns the error for a request without a response, with the remedy if it is known.
func (p *progress) noResponse(r exchange.Request, err error) *exchange.NoResponse {
	n := &exchange.NoResponse{Request: r, Err: err, Stage: *p.stage.Load()}
	began := p.began.Load()
	op, failed := errors.AsType[*net.OpError](err)
	var timeout net.Error
	var refused *exchange.RefusedAddress
	var proxy *proxyRefused
	switch {
	case errors.As(err, &refused):
		n.Cause, n.Stage = "not sent: "+refused.Why, exchange.StageTCP
		n.Remedy = refused.Remedy
	case errors.Is(err, errTooLarge):
		n.Cause, n.Closed = err.Error(), true
	case errors.As(err, &proxy):
		n.Cause, n.Stage = proxy.Error(), exchange.StageProxy
		n.Remedy = p.route.remedyOfProxy(r.Base, proxy.Status)
	case failed && (op.Op == "proxyconnect" || op.Op == "socks connect"):
		n.Cause = "cannot connect to the proxy: " + dialCause(op.Err)
		n.Stage = exchange.StageProxy
		n.Remedy = "start the proxy, or correct proxy (without that key: HTTP_PROXY and HTTPS_PROXY)"
	case failed && op.Op == "dial":
		n.Cause, n.Stage = dialCause(op.Err), exchange.StageTCP
		n.Remedy = p.route.remedyOfTCP(r.Base)
		if _, is := errors.AsType[*net.DNSError](err); is {
			n.Stage = exchange.StageDNS
			n.Remedy = p.route.remedyOfDNS(r.Base)
		}
	case errors.Is(err, errTimeout), errors.As(err, &timeout) && timeout.Timeout():
		n.Cause, n.Timeout = "no response within "+r.Timeout.String(), true
	case n.Stage == exchange.StageTLS, failed && op.Op == "remote error", errors.As(err, new(*clientRefused)) && !began:
		n.Cause, n.Stage = err.Error(), exchange.StageTLS
		n.Remedy = p.route.remedyOfTLS(r.Base, err)
		if !failed && errors.As(err, new(*clientRefused)) { // net/http returns different errors for this
			n.Cause = "the server requested a client certificate and closed the connection"
		}
		if record, is := errors.AsType[tls.RecordHeaderError](err); is && string(record.RecordHeader[:]) == "HTTP/" {
			n.Cause = http.ErrSchemeMismatch.Error()
		}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), isReset(err),
		p.reused.Load() && !began: // net/http returns different errors for a closed idle connection
		n.Cause = "the connection was closed before the response was complete"
		n.Closed = true
	case began:
		n.Cause, n.Closed = "the response is not HTTP: "+err.Error(), true
	default:
		n.Cause = err.Error()
	}
	return n
}

// dialCause returns the reason without the name of the system call, such as "connection refused".
func dialCause(err error) string {
	if op, is := errors.AsType[*net.OpError](err); is {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		return call.Err.Error()
	}
	return err.Error()
}

// namesOf returns the host names and IP addresses of a certificate, at most five.
func namesOf(c *x509.Certificate) string {
	all := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	const most = 5
	if len(all) > most {
		all = append(all[:most], "...")
	}
	return strings.Join(all, ", ")
}

// Certificate describes the certificate of a server: its names, its issuer and its end.
func Certificate(c *x509.Certificate) string {
	until := c.NotAfter.UTC().Format(time.DateOnly)
	return fmt.Sprintf("for %s, issued by %.200q, valid until %s", namesOf(c), c.Issuer.String(), until)
}

// progress records the progress of a request.
type progress struct {
	route *Route
	began atomic.Bool // the first byte of the response has arrived
	// The connection was used before. The server may have closed it as idle, even if net/http passed it directly to this
	// request.
	reused atomic.Bool
	stage  atomic.Pointer[exchange.Stage]
}

func (p *progress) watch(ctx context.Context) context.Context {
	at := func(s exchange.Stage) { p.stage.Store(&s) }
	at(exchange.StageTCP)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:          func(httptrace.DNSStartInfo) { at(exchange.StageDNS) },
		ConnectStart:      func(string, string) { at(exchange.StageTCP) },
		TLSHandshakeStart: func() { at(exchange.StageTLS) },
		GotConn: func(c httptrace.GotConnInfo) {
			at(exchange.StageHTTP)
			p.reused.Store(c.Reused)
		},
		GotFirstResponseByte: func() { p.began.Store(true) },
	})
}

// closedIdle reports whether a request has no response because its reused connection was closed.
func (p *progress) closedIdle(none *exchange.NoResponse) bool {
	return none.Closed && p.reused.Load() && !p.began.Load() && !isReset(none.Err)
}

// streamError receives the error of net/http for an HTTP/2 stream that was reset: errors.As of net/http fills in any type
// with these fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "the HTTP/2 stream was reset" }

func isReset(err error) bool { return errors.As(err, new(streamError)) }
