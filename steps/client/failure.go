package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
)

func noAnswer(r Request, err error) *NoAnswer {
	n := &NoAnswer{Request: r, err: err}
	var dial *net.OpError
	var timeout net.Error
	switch {
	case errors.Is(err, errTooLarge):
		n.Cause = err.Error()
		n.Closed = true
	case secured(err) != "":
		n.Cause, n.Remedy = cut(err), secured(err)
	case errors.As(err, &dial) && dial.Op == "dial":
		n.Cause = dialCause(dial.Err)
	case errors.Is(err, errSilent), errors.As(err, &timeout) && timeout.Timeout():
		n.Cause, n.Timeout = "no answer within "+r.Timeout.String(), true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "connection reset"):
		n.Cause, n.Closed = "the connection was closed before the answer was complete", true
	case strings.Contains(err.Error(), "malformed"), strings.Contains(err.Error(), "transport connection broken"),
		strings.Contains(err.Error(), "response headers exceeded"), strings.Contains(err.Error(), "invalid"):
		n.Cause, n.Closed = "the answer is not HTTP: "+cut(err), true
	default:
		n.Cause = cut(err)
	}
	return n
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

// secured is the remedy for a TLS connection that failed. Verification is never turned off: the requests carry credentials. It
// is "" for every other failure.
func secured(err error) (remedy string) {
	var record tls.RecordHeaderError
	var verification *tls.CertificateVerificationError
	switch said := cut(err); {
	case errors.As(err, &verification):
		return trust(verification)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "the server does not speak TLS: is it an http:// address?"
	case strings.Contains(said, "protocol version"):
		return "enable TLS 1.2 or newer at the target"
	case strings.Contains(said, "certificate required"):
		return "the target requires a client certificate, which the suite does not support: put a proxy with one in front of the target"
	}
	return ""
}

// trust is the remedy for a certificate that could not be verified.
func trust(err error) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "use a host name of the certificate, or issue the certificate for this one"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "renew the certificate, or correct the clock"
	case runtime.GOOS == "darwin" || runtime.GOOS == "windows":
		return "if a private CA issued it, add the CA certificate to the system's trusted ones"
	}
	return "if a private CA issued it, set SSL_CERT_FILE=ca.pem"
}
