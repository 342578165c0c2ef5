package hostile

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRows: each row can be read and served, its name is that of no group, and where the interface does not decide the
// verdict it says why it is this one.
func TestRows(t *testing.T) {
	names := map[string]bool{}
	for _, m := range All() {
		names[m.Group] = true
	}
	for _, m := range All() {
		assert.False(t, names[m.Name], "two modes, or a group, have the name %s", m.Name)
		names[m.Name] = true
		assert.NotEmpty(t, m.Does, m.Name)
		assert.Contains(t, Exits, m.Verdict, m.Name)
		assert.False(t, m.Verdict != nonConformant && m.Because == "", "%s: say why the verdict is %q", m.Name, m.Verdict)
		assert.NotNil(t, m.around(http.NotFoundHandler()), m.Name)
		assert.Contains(t, fronts(), m.Front, m.Name)
	}
}
