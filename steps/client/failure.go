package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
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
		n.Cause = "cannot connect: " + dial.Err.Error()
	case errors.Is(err, errSilent), errors.As(err, &timeout) && timeout.Timeout():
		n.Cause, n.Timeout = "no answer within "+r.Timeout.String(), true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "connection reset"):
		n.Cause, n.Closed = "the connection was closed before the answer was complete", true
	case strings.Contains(err.Error(), "malformed"), strings.Contains(err.Error(), "transport connection broken"),
		strings.Contains(err.Error(), "response headers exceeded"), strings.Contains(err.Error(), "invalid"):
		n.Cause, n.Closed = "answered with something that is no HTTP: "+cut(err), true
	default:
		n.Cause = cut(err)
	}
	return n
}

// cut leaves out the method and address that net/http puts before the reason.
func cut(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}

// secured says what to do about a safe connection that did not come about. Going on without the verification is no way
// out: the requests carry credentials. It is "" for every other failure.
func secured(err error) (remedy string) {
	var record tls.RecordHeaderError
	var verification *tls.CertificateVerificationError
	switch said := cut(err); {
	case errors.As(err, &verification):
		return trust(verification)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "what listens there does not speak TLS: is it an http:// address?"
	case strings.Contains(said, "protocol version"):
		return "the target has to offer TLS 1.2 or newer"
	case strings.Contains(said, "certificate required"):
		return "the target wants a certificate of the client, and the suite has none: put a proxy that has one before the target"
	}
	return ""
}

// trust says what makes a certificate acceptable.
func trust(err error) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "use an address with a name that the certificate holds, or have it issued for this one"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "renew it, or set the clock right"
	case runtime.GOOS == "darwin" || runtime.GOOS == "windows":
		return "if a private authority has issued it, add that one's certificate to those that this system trusts"
	}
	return "if a private authority has issued it, name a file with that one's certificate: SSL_CERT_FILE=authority.pem"
}
