package steps_test

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestTokensGoNowhereElse judges control planes that return a dangerous or invalid address for the agent server. Nothing
// is sent to that address, the requirements of the agent server are blocked, and the reason shows the address.
func TestTokensGoNowhereElse(t *testing.T) {
	t.Parallel()
	s := startIndependent(useTCP(t), independent.Options{})
	at, err := url.Parse(s.AgentURL)
	require.NoError(t, err)
	for name, c := range map[string]struct{ address, reason string }{
		"the metadata service": {"http://169.254.169.254/latest", `"http://169.254.169.254/latest`},
		"not a URL":            {"not\\u001b[31m an address", `not\x1b[31m an address`},
		"a long address":       {"ftp://" + strings.Repeat("x", 5000), `"ftp://` + strings.Repeat("x", 194) + `": it does not begin with http`},
		"a user's token":       {"http://" + independent.Users[0].Token + "@agents.example", `$AGENTCONFORM_USERS_0_TOKEN@agents.example`},
	} {
		t.Run(name, func(test *testing.T) {
			t := useTCP(test)
			cfg := configure(t, s)
			cfg.Target = serveRewriting(t, s.ControlURL, func(body string) string {
				return strings.ReplaceAll(body, `http:\/\/`+at.Host, c.address)
			})
			res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = []string{"AS-THREAD-1", "AS-AUTH-1", "E2E-1"} })
			assert.Equal(t, reports.Incomplete, res.Verdict)
			for _, q := range res.Requirements {
				assert.Equal(t, reports.Blocked, q.Verdict, "%s: %s", q.ID, q.Reason)
				assert.Contains(t, q.Reason, "no user's token is sent to the agent server address that the deployment has at "+cfg.AgentURLFrom)
				assert.Contains(t, q.Reason, c.reason)
				assert.Less(t, len(q.Reason), 600)
			}
			for _, x := range res.Exchanges {
				assert.True(t, strings.HasPrefix(x.URL, cfg.Target), x.URL)
			}
			assert.Empty(t, res.Target.AgentServer)
		})
	}
}

// TestANameThatLeadsToMetadata judges a control plane that returns a host name which resolves to the metadata service of
// a cloud.
func TestANameThatLeadsToMetadata(test *testing.T) {
	t := useTCP(test)
	resolveNamesTo(t, "169.254.169.254")
	s := startIndependent(t, independent.Options{})
	at, err := url.Parse(s.AgentURL)
	require.NoError(t, err)
	cfg := configure(t, s)
	cfg.Target = serveRewriting(t, s.ControlURL, func(body string) string { return strings.ReplaceAll(body, at.Host, "agents.test") })
	res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = []string{"AS-THREAD-1"} })
	require.Len(t, res.Requirements, 1)
	q := res.Requirements[0]
	assert.Equal(t, reports.Blocked, q.Verdict, q.Reason)
	assert.Contains(t, q.Reason, `"http://agents.test`)
	assert.Contains(t, q.Reason, "it leads to 169.254.169.254")
	assert.Equal(t, []reports.Blocker{{Kind: reports.ByKey, Name: "agent_target"}}, q.BlockedBy)
	for _, x := range res.Exchanges {
		assert.True(t, strings.HasPrefix(x.URL, cfg.Target), x.URL)
	}
}

// TestWhereThePlaneIsIsSeen judges a control plane whose host name resolves to this machine. It may return a loopback
// address for an agent server.
func TestWhereThePlaneIsIsSeen(test *testing.T) {
	t := useTCP(test)
	resolveNamesTo(t, "127.0.0.1")
	s := startIndependent(t, independent.Options{})
	cfg := configure(t, s)
	cfg.Target = strings.Replace(s.ControlURL, "127.0.0.1", "control.test", 1)
	res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = []string{"AS-THREAD-1"} })
	require.Len(t, res.Requirements, 1)
	assert.Equal(t, reports.Passed, res.Requirements[0].Verdict, res.Requirements[0].Reason)
}

// resolveNamesTo makes each host name resolve to one address until the test ends.
func resolveNamesTo(t world, address string) {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		buffer := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			q := m.Questions[0]
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
					Body: &dnsmessage.AResource{A: netip.MustParseAddr(address).As4()}}}
			}
			packed, err := m.Pack()
			if assert.NoError(t, err) {
				_, _ = server.WriteTo(packed, from)
			}
		}
	}()
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		_ = server.Close()
		<-served
	})
}
