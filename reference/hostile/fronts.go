package hostile

import (
	"context"
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
	"sync/atomic"
	"time"
)

// front serves a handler at a listener until the context ends.
type front func(ctx context.Context, l net.Listener, handler http.Handler)

// fronts returns the ways to accept connections, by name. The empty name is plain HTTP/1.1.
func fronts() map[string]front {
	certificates := func(all ...tls.Certificate) *tls.Config { return &tls.Config{Certificates: all} }
	now, local := time.Now(), "127.0.0.1"
	valid := certificate(now.Add(-time.Hour), now.Add(time.Hour), local)
	old, mutual := certificates(valid), certificates(valid)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	mutual.ClientAuth = tls.RequireAnyClientCert
	return map[string]front{
		"":                  serve,
		"valid":             overTLS(certificates(valid)),
		"expired":           overTLS(certificates(certificate(time.Unix(0, 0), time.Unix(1, 0), local))),
		"other-name":        overTLS(certificates(certificate(now, now.Add(time.Hour), "192.0.2.1"))),
		"old-version":       overTLS(old),
		"wants-certificate": overTLS(mutual),
		"no-certificate": overTLS(&tls.Config{
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, io.EOF },
		}),
		"no-handshake":     takes(func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }),
		"random-handshake": takes(func(c net.Conn) { _, _ = io.CopyN(c, rand.Reader, 1<<20) }),
		"alert":            takes(func(c net.Conn) { _, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 40}) }),
		"closes-at-once":   takes(func(net.Conn) {}),
	}
}

func serve(ctx context.Context, l net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	_ = server.Serve(l) // returns when the server is closed
}

// overTLS serves HTTP/1.1 over TLS.
func overTLS(config *tls.Config) front {
	return func(ctx context.Context, l net.Listener, handler http.Handler) {
		serve(ctx, tls.NewListener(l, config), handler)
	}
}

// takes returns a front that passes each connection to a function instead of an HTTP server.
func takes(use func(c net.Conn)) front {
	return func(ctx context.Context, l net.Listener, _ http.Handler) {
		defer context.AfterFunc(ctx, func() { _ = l.Close() })()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // ends with the connection
				defer c.Close()
				defer context.AfterFunc(ctx, func() { _ = c.Close() })()
				use(c)
			}()
		}
	}
}

// stopping returns a front that serves a number of requests and refuses connections after them.
func stopping(after int64) front {
	return func(ctx context.Context, l net.Listener, handler http.Handler) {
		var seen atomic.Int64
		served, stop := context.WithCancel(ctx)
		defer stop()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if seen.Add(1) == after {
				stop()
			}
			handler.ServeHTTP(w, r)
		})}
		defer server.Close()
		go func() { _ = server.Serve(l) }() // returns when the listener is closed
		<-served.Done()
		patience, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_ = server.Shutdown(patience) // requests in flight still get a response
		<-ctx.Done()
	}
}

// certificate returns a self-signed certificate.
func certificate(from, to time.Time, address string) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // impossible: the system has random numbers
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: to, IPAddresses: []net.IP{net.ParseIP(address)},
		Subject: pkix.Name{CommonName: `</script><script>alert("hostile")</script><img src=x onerror=alert("hostile")>`},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err) // impossible: the template is constant
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
