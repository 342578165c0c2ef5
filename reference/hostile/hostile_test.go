package hostile

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
