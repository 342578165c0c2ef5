package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
)

// Party is who can mend a failure.
type Party string

// The parties. "" is for what says nothing about that.
const (
	Configuration Party = "your configuration"
	Server        Party = "your server"
	Either        Party = "your server or your configuration"
	Network       Party = "the network"
)

func noAnswer(r Request, err error) *NoAnswer {
	n := &NoAnswer{Request: r, err: err, Stage: StageHTTP}
	var seen interrupted
	if at, is := errors.AsType[*interrupted](err); is {
		seen, err = *at, at.error
		n.Asked, n.Stage = seen.asked, seen.stage
	}
	var dial *net.OpError
	var timeout net.Error
	var refused *NotNamed
	switch {
	case errors.As(err, &refused):
		n.Cause, n.Remedy, n.Party, n.Stage = "not sent: "+refused.Why, refused.Remedy(), Configuration, StageTCP
	case errors.Is(err, errTooLarge):
		n.Cause = err.Error()
		n.Closed = true
	case n.byProxy(err), n.byTLS(err, seen):
	case errors.As(err, &dial) && dial.Op == "dial":
		n.Cause, n.Stage = dialCause(dial.Err), StageTCP
		if _, is := errors.AsType[*net.DNSError](err); is {
			n.Stage = StageDNS
		}
	case errors.Is(err, errSilent), errors.As(err, &timeout) && timeout.Timeout():
		n.Cause, n.Timeout = "no answer within "+r.Timeout.String(), true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), isReset(err):
		n.Cause, n.Closed = "the connection was closed before the answer was complete", true
	case seen.began:
		n.Cause, n.Closed = "the answer is not HTTP: "+cut(err), true
	default:
		n.Cause = cut(err)
	}
	return n
}

// byProxy tells whether the way to the proxy, or the proxy, is at fault.
func (n *NoAnswer) byProxy(err error) bool {
	var refused *ProxyRefused
	var op *net.OpError
	switch {
	case errors.As(err, &refused):
		n.Cause, n.Party, n.Remedy = refused.Error(), Configuration, proxyRemedy(refused.Status)
	case errors.As(err, &op) && (op.Op == "proxyconnect" || op.Op == "socks connect"):
		n.Cause, n.Party = "cannot connect to the proxy: "+dialCause(innermost(op.Err)), Configuration
		n.Remedy = "start the proxy, or correct proxy (without that key: HTTP_PROXY and HTTPS_PROXY)"
	default:
		return false
	}
	n.Stage = StageProxy
	return true
}

// proxyRemedy is what to do where a proxy itself answers with a status.
func proxyRemedy(status int) string {
	if status == http.StatusProxyAuthRequired {
		return "write user name and password into the URL of proxy"
	}
	return fmt.Sprintf("the proxy does not reach the host (status %d): correct the address, let the proxy connect to it, or set resolve to go past the proxy", status)
}

// innermost is the reason in errors of connections.
func innermost(err error) error {
	if op, is := errors.AsType[*net.OpError](err); is {
		return op.Err
	}
	return err
}

// dialCause is the reason without the name of the system call: "connection refused".
func dialCause(err error) string {
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		return call.Err.Error()
	}
	return err.Error()
}

// cut leaves out the method and address that net/http puts before the reason.
func cut(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}
