package client

import (
	"crypto/tls"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRemedyOfTLS checks the remedy for a server that ends the handshake: the key must not be set already and must have
// an effect on the address.
func TestRemedyOfTLS(t *testing.T) {
	const plane, agent, other = "https://plane.example", "https://agent.example/a", "https://deployment.example/a"
	own := &tls.Config{Certificates: make([]tls.Certificate, 1), MinVersion: tls.VersionTLS12}
	for name, c := range map[string]struct {
		agent, base string
		tls         *tls.Config
		want        string
	}{
		"target":                     {"", plane, nil, "set tls.cert and tls.key if"},
		"agent_target":               {agent, agent, nil, "set tls.cert and tls.key if"},
		"target, with a certificate": {"", plane, own, "correct tls.cert and tls.key if"},
		"address of a deployment":    {"", other, own, "set agent_target if"},
		"address of a deployment and agent_target": {agent, other, own, "have the server demand no client certificate"},
	} {
		route := &Route{TLS: c.tls, Names: &Naming{Plane: plane, Agent: c.agent}}
		assert.Contains(t, route.remedyOfTLS(c.base, errors.New("handshake failure")), c.want, name)
	}
}
