package hostile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"time"
)

// secure are targets over TLS.
func secure() []Mode {
	never := func(name, does string, front Front) Mode {
		return Mode{Name: name, Does: does, Verdict: Incomplete, Because: "no request was answered", TLS: true, Front: front}
	}
	valid := certificate(time.Now().Add(-time.Hour), time.Now().Add(time.Hour), "127.0.0.1")
	trusting := func(m Mode) Mode {
		m.Config = func(keys map[string]any) { keys["tls"] = map[string]any{"insecure": true} }
		return m
	}
	return []Mode{
		never("unknown-authority", "has a certificate of an authority that nobody knows", overTLS(&tls.Config{Certificates: []tls.Certificate{valid}})),
		never("expired", "has a certificate that has expired", overTLS(&tls.Config{Certificates: []tls.Certificate{certificate(time.Unix(0, 0), time.Unix(1, 0), "127.0.0.1")}})),
		never("other-name", "has a certificate for another name", overTLS(&tls.Config{Certificates: []tls.Certificate{certificate(time.Now(), time.Now().Add(time.Hour), "192.0.2.1")}})),
		never("no-certificate", "has no certificate", overTLS(&tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, io.EOF }})),
		never("plain-http", "speaks HTTP where TLS is expected", plainHTTP),
		never("no-handshake", "takes connections and does not begin the handshake", takes(func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })),
		never("random-handshake", "answers the handshake with random bytes", takes(func(c net.Conn) { _, _ = io.CopyN(c, rand.Reader, 1<<20) })),
		never("alert", "ends the handshake with an alert", takes(func(c net.Conn) { _, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 40}) })),
		never("closes-at-once", "closes each connection", takes(func(net.Conn) {})),
		trusting(never("old-version", "speaks TLS 1.1 at most", overTLS(&tls.Config{Certificates: []tls.Certificate{valid}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}))),
		trusting(never("wants-certificate", "wants a client certificate", overTLS(&tls.Config{Certificates: []tls.Certificate{valid}, ClientAuth: tls.RequireAnyClientCert}))),
		trusting(Mode{Name: "trusted", Does: "is the reference over TLS", Verdict: Conformant, Because: "the configuration trusts it", TLS: true,
			Front: overTLS(&tls.Config{Certificates: []tls.Certificate{valid}})}),
		trusting(Mode{Name: "bomb-over-tls", Does: "lists millions of empty revisions over TLS", Verdict: NonConformant, TLS: true,
			Layer: on("list-revisions", lazily(200, func() string { return filled(page, `{},`, pageEnd) })), Front: overTLS(&tls.Config{Certificates: []tls.Certificate{valid}})}),
	}
}

// overTLS serves HTTP over TLS.
func overTLS(config *tls.Config) Front {
	return func(l net.Listener, handler http.Handler) {
		server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
		_ = server.Serve(tls.NewListener(l, config)) // until the listener is closed
	}
}

// takes serves connections without HTTP.
func takes(use func(c net.Conn)) Front {
	return func(l net.Listener, _ http.Handler) {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // ends when the listener closes its connections
				defer c.Close()
				use(c)
			}()
		}
	}
}

// certificate makes a certificate that no authority has signed.
func certificate(from, to time.Time, address string) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // the system has no random numbers
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: script}, NotBefore: from, NotAfter: to, IPAddresses: []net.IP{net.ParseIP(address)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err) // the template is the same each time
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
