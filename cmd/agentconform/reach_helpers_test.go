package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/steps/config"
)

// authority is a private CA with its certificate in a file.
type authority struct {
	t      *testing.T
	key    *ecdsa.PrivateKey
	root   *x509.Certificate
	pool   *x509.CertPool
	folder string
	file   string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a private CA"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(1000 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	root, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	a := &authority{t: t, key: key, root: root, pool: x509.NewCertPool(), folder: t.TempDir()}
	a.pool.AddCert(root)
	a.file = a.save("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) save(name, kind string, der []byte) string {
	path := filepath.Join(a.folder, name)
	require.NoError(a.t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return path
}

// issue makes a certificate for a host: a name or an IP address.
func (a *authority) issue(name, host string) tls.Certificate {
	return a.issueUntil(name, host, time.Now().Add(500*time.Hour))
}

// issueUntil is issue with the end of the certificate's validity.
func (a *authority) issueUntil(name, host string, until time.Time) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: until.Add(-1000 * time.Hour),
		NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.root, key.Public(), a.key)
	require.NoError(a.t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// write makes a certificate and returns the files of it and of its key.
func (a *authority) write(name string) (certificate, key string) {
	pair := a.issue(name, name)
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(a.t, err)
	return a.save(name+".pem", "CERTIFICATE", pair.Certificate[0]), a.save(name+".key", "PRIVATE KEY", der)
}

// inEveryFormat is the text of all reports of a result.
func inEveryFormat(t *testing.T, r *reports.Result) string {
	t.Helper()
	var all strings.Builder
	for _, text := range filesOf(t, r) {
		all.WriteString(text)
	}
	return all.String()
}

// filesOf are the texts of the reports of a result by their names, with what the console shows.
func filesOf(t *testing.T, r *reports.Result) map[string]string {
	t.Helper()
	folder, all := t.TempDir(), map[string]string{}
	require.NoError(t, export.Write(folder, r))
	var shown strings.Builder
	require.NoError(t, console.Write(&shown, r, console.Options{}))
	all["console"] = shown.String()
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[filepath.Base(path)] = string(text)
		return err
	}))
	return all
}

// proxied is a reference that only a proxy reaches.
func proxied(t *testing.T, scheme string, o reference.Options) *config.Config {
	f, cfg := behindFront(t, "agents.invalid", scheme, o, as)
	if scheme == "https" {
		ca := newAuthority(t)
		f.secured(ca, &tls.Config{})
		cfg.TLS.CA = ca.file
	} else {
		f.Start()
	}
	proxy := httptest.NewServer(knowing(f.Listener.Addr().String()))
	t.Cleanup(proxy.Close)
	cfg.Proxy = strings.Replace(proxy.URL, "http://", "http://somebody:proxy-secret@", 1)
	return cfg
}

// socketed is a reference behind a Unix domain socket.
func socketed(t *testing.T, o reference.Options) *config.Config {
	f, cfg := behindFront(t, "localhost", "http", o, as)
	require.NoError(t, f.Listener.Close())
	cfg.Socket.ControlPlane = filepath.Join(t.TempDir(), "s")
	var err error
	f.Listener, err = net.Listen("unix", cfg.Socket.ControlPlane)
	require.NoError(t, err)
	f.Start()
	return cfg
}

// statusOfCurl runs a curl line of a report, with the secrets in the environment.
func statusOfCurl(t *testing.T, line string, secrets map[string]string) int {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-c", line+` -o /dev/null -w '\n%{http_code}'`)
	shell.Env = os.Environ()
	for value, name := range secrets {
		shell.Env = append(shell.Env, strings.TrimPrefix(name, "$")+"="+value)
	}
	out, err := shell.CombinedOutput()
	require.NoError(t, err, "%s: %s", line, out)
	lines := strings.Split(string(out), "\n")
	status, err := strconv.Atoi(lines[len(lines)-1])
	require.NoError(t, err, "%s", out)
	return status
}
