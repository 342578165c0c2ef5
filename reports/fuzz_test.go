package reports_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

// FuzzJournal: an exchange is read as it was kept.
func FuzzJournal(f *testing.F) {
	f.Add("GET", "http://h/a", `{"a":1}`, "X-A", "b", `{"b":"é"}`, uint16(200), uint16(1))
	f.Add("\x00", "\u2028", "\xff", "", "\xed\xa0\x80", "a\xffb", uint16(0), uint16(300))
	f.Add("POST", "http://h/a?b=\\u0000", "x", "a\nb", "\"", "\xf0", uint16(500), uint16(60_000))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, method, address, sent, name, value, received string, status, times uint16) {
		if len(sent)+len(received) < 100 {
			sent, received = strings.Repeat(sent, int(times)), strings.Repeat(received, int(times))
		}
		j, err := reports.NewJournal(dir)
		require.NoError(t, err)
		defer j.Close() //nolint:errcheck // checked below
		x := reports.Exchange{Method: method, URL: address, Status: int(status), Request: reports.Message{Body: sent, Size: len(sent)},
			Response: reports.Message{Body: received, Size: len(received), Headers: map[string][]string{name: {value}}}}
		want := reports.Bounded(x)
		for range 2 {
			id, err := j.Append(x)
			require.NoError(t, err)
			got, err := j.Get(id)
			require.NoError(t, err)
			if want.ID = id; utf8.ValidString(method + address + sent + name + value + received) {
				require.Equal(t, want, got)
			}
			require.Equal(t, want.Status, got.Status)
			require.LessOrEqual(t, len(got.Response.Body), 3*len(want.Response.Body))
		}
		require.NoError(t, j.Close())
	})
}

var word = regexp.MustCompile(`^('[^']*'|\\'|[\w./:@%+,=-]|"\$AGENTCONFORM_PROXY")*$`)

// FuzzAddress: the host of an address is found, and replaced alone; what curl gets of a connection are words of a shell.
func FuzzAddress(f *testing.F) {
	for _, a := range []string{"http://h", "https://H:1/a?b#c", "http://[::1]:80/", "http://u:p@h/", "//h", "http:/h", "http://h:port/", "http://h\n", "https://%41/", "javascript:x"} {
		f.Add(a, "value", "10.0.0.1")
		f.Add(a, "a'; touch x; '", "::1")
	}
	f.Fuzz(func(t *testing.T, address, value, ip string) {
		at := reports.HostPort(address)
		c := &reports.Connection{CA: value, Cert: value, Key: value, ServerName: "name.example", Proxy: value, Resolve: map[string]string{"h": ip}, Sockets: map[string]string{"h:1": value}, Hosts: []string{at}}
		arguments, authority := c.Curl(address)
		for _, a := range arguments {
			if !strings.Contains(a, "\x00") {
				assert.Regexp(t, word, a)
			}
		}
		u, err := url.Parse(address)
		if at == "" || err != nil {
			require.Empty(t, arguments)
			return
		}
		if start, end := reports.AuthoritySpan(address); end > 0 && !strings.Contains(address, `\`) {
			require.True(t, 0 < start && start <= end && end <= len(address))
			moved, err := url.Parse(reports.WithAuthority(address, "other.example:2"))
			require.NoError(t, err)
			require.Equal(t, "other.example:2", moved.Host)
			require.Equal(t, u.Path+"?"+u.RawQuery, moved.Path+"?"+moved.RawQuery)
		}
		if authority != "" {
			require.Equal(t, "name.example", reports.HostPort("https://" + authority)[:12])
		}
	})
}
