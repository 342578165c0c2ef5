package hostile

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// A connection that a server closes after an error of the request is kept for half a second, longer than goleak waits.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// TestEveryRowIsComplete: a mode can be named, says what it does in a main clause, and where the interface does not decide the verdict,
// why it is this one.
func TestEveryRowIsComplete(t *testing.T) {
	name, seen := regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`), map[string]bool{}
	groups := map[string]int{}
	for _, m := range All() {
		assert.Regexp(t, name, m.Name)
		assert.False(t, seen[m.Name], "%s: two modes have this name", m.Name)
		seen[m.Name] = true
		groups[m.Group]++
		assert.Regexp(t, `^[a-z].*[^.]$`, m.Does, m.Name)
		assert.Contains(t, Exits, m.Verdict, m.Name)
		assert.False(t, m.Verdict != nonConformant && m.Because == "", "%s: say why the verdict is %q", m.Name, m.Verdict)
		assert.False(t, groups[m.Name] > 0, "%s: a group has this name", m.Name)
		_, err := m.around(http.NotFoundHandler())
		assert.NoError(t, err, m.Name)
		assert.Contains(t, fronts(), m.Front, m.Name)
	}
}

// TestServersStart: one of twenty takes connections, and ends with Close. Each does when the suite is run against it.
func TestServersStart(t *testing.T) {
	for i, m := range All() {
		if i%20 != 0 {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			s, err := Start(t.Context(), m)
			require.NoError(t, err)
			target, err := url.Parse(s.Config["target"].(string))
			require.NoError(t, err)
			assert.Equal(t, m.TLS, target.Scheme == "https")
			c, err := net.Dial("tcp", target.Host)
			require.NoError(t, err)
			require.NoError(t, s.Close())
			_, _ = io.Copy(io.Discard, c) // ends where its connections end with it
			_ = c.Close()
		})
	}
}
