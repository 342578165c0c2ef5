package hostile

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRows checks that each mode can be served, that names are unique (-only accepts names and groups), and that a verdict
// other than non-conformant has a reason.
func TestRows(t *testing.T) {
	names := map[string]bool{}
	for _, m := range All() {
		names[m.Group] = true
	}
	for _, m := range All() {
		assert.False(t, names[m.Name], "%s is the name of two modes, or of a mode and a group", m.Name)
		names[m.Name] = true
		assert.NotEmpty(t, m.Does, m.Name)
		assert.Contains(t, Exits, m.Verdict, m.Name)
		assert.False(t, m.Verdict != nonConformant && m.Because == "", "%s: add because: it explains the verdict %q", m.Name, m.Verdict)
		assert.NotNil(t, m.around(http.NotFoundHandler()), m.Name)
		assert.Contains(t, fronts(), m.Front, m.Name)
	}
}
