package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

// byTLS tells whether no secure connection came about, and how to mend that. Verification is turned off for no reason other than
// the user's own word: the requests carry credentials.
func (n *NoAnswer) byTLS(err error, seen interrupted) bool {
	var record tls.RecordHeaderError
	var verification *tls.CertificateVerificationError
	alert, alerted := alertOf(err)
	switch {
	case errors.As(err, &verification):
		n.Cause, n.Verifies = cut(err), true
		n.Party, n.Remedy = trust(verification)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		n.Cause, n.Party, n.Remedy = cut(err), Configuration, "the server does not speak TLS: is it an http:// address?"
	case alerted && alert == alertVersion:
		n.Cause, n.Party, n.Remedy = cut(err), Server, "enable TLS 1.2 or newer at the target"
	case alerted && alert == alertName:
		n.Cause, n.Party, n.Remedy = cut(err), Configuration, "the server has no certificate for this host: use another host, or set tls.server_name"
	case seen.asked && !seen.answered && !seen.began && (alerted && slices.Contains(alertsOfClients, alert) || !alerted && isLost(err)):
		n.Cause, n.Party, n.Remedy = "the server asked for a client certificate and got none: "+cut(err), Configuration, "set tls.cert and tls.key"
		if seen.shown {
			n.Cause, n.Remedy = "the server does not accept the client certificate: "+cut(err), "use one in tls.cert that is valid and of an authority that the server trusts"
		}
	case alerted || seen.handshake:
		n.Cause, n.Party, n.Remedy = cut(err), Either, "compare the TLS settings of the server with the keys of tls"
	default:
		return false
	}
	n.Stage = StageTLS
	return true
}

// isLost tells whether a connection that was made is gone. Of several requests on one connection only the first gets the alert.
func isLost(err error) bool {
	var op *net.OpError
	var timeout net.Error
	return !errors.Is(err, errSilent) && !isReset(err) && !(errors.As(err, &timeout) && timeout.Timeout()) && !(errors.As(err, &op) && op.Op == "dial")
}

// Alerts of TLS (RFC 8446, section 6).
const (
	alertVersion = 70  // protocol_version
	alertName    = 112 // unrecognized_name
)

// alertsOfClients are those to a client certificate that is missing or not accepted: handshake_failure, bad_certificate,
// unsupported_certificate, certificate_revoked, certificate_expired, certificate_unknown, unknown_ca, access_denied,
// certificate_required.
var alertsOfClients = []uint64{40, 42, 43, 44, 45, 46, 48, 49, 116}

// alertOf returns the number of the alert with which the server ended the connection. crypto/tls does not export its type, which
// is a number.
func alertOf(err error) (number uint64, found bool) {
	for op := (*net.OpError)(nil); errors.As(err, &op); err = op.Err {
		if v := reflect.ValueOf(op.Err); op.Op == "remote error" && v.Kind() == reflect.Uint8 {
			return v.Uint(), true
		}
	}
	return 0, false
}

// trust says who mends a certificate that could not be verified, and how.
func trust(failed *tls.CertificateVerificationError) (Party, string) {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var leaf *x509.Certificate
	if len(failed.UnverifiedCertificates) > 0 {
		leaf = failed.UnverifiedCertificates[0]
	}
	switch {
	case errors.As(failed, &name):
		return Configuration, "use a host name of the certificate (" + namesOf(leaf) + "), issue the certificate for this one, or set tls.server_name"
	case errors.As(failed, &invalid) && invalid.Reason == x509.Expired:
		if leaf != nil && time.Now().Before(leaf.NotBefore) {
			return Either, "correct the clock: the certificate is valid from " + leaf.NotBefore.UTC().Format(time.DateTime) + " UTC"
		}
		return Server, "renew the certificate, or correct the clock"
	case leaf == nil:
		return Configuration, "set tls.ca to the file of the authority's certificate"
	}
	chain := "the server sent " + fmt.Sprint(len(failed.UnverifiedCertificates)) + " in the chain, issued by " + issuerOf(failed.UnverifiedCertificates[len(failed.UnverifiedCertificates)-1])
	return Configuration, "if a private CA issued it, set tls.ca to the file of its certificate; else have the server send the intermediate certificates (" + chain + ")"
}

// namesOf lists for whom a certificate is.
func namesOf(c *x509.Certificate) string {
	if c == nil {
		return "unknown"
	}
	all := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	switch {
	case len(all) == 0:
		return "it has none"
	case len(all) > 5:
		return strings.Join(all[:5], ", ") + ", ..."
	}
	return strings.Join(all, ", ")
}

func issuerOf(c *x509.Certificate) string { return fmt.Sprintf("%.200q", c.Issuer.String()) }

// Certificate describes the certificate of a server: for whom it is, by whom, and until when.
func Certificate(c *x509.Certificate) string {
	return fmt.Sprintf("for %s, issued by %s, valid until %s", namesOf(c), issuerOf(c), c.NotAfter.UTC().Format(time.DateOnly))
}
