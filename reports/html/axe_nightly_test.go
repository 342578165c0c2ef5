//go:build nightly

package html_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEveryPageIsAccessible lets axe-core judge six kinds of results with everything opened, as they are in light and dark,
// and on a narrow screen.
func TestEveryPageIsAccessible(t *testing.T) {
	b := openBrowser(t)
	axe := axeSource(t)
	dir := pages(t, sixResults())
	for _, look := range []struct {
		name, scheme  string
		width, height int64
	}{{"light", "light", 1280, 1000}, {"dark", "dark", 1280, 1000}, {"narrow", "light", 390, 844}} {
		for name := range sixResults() {
			b.size(look.width, look.height, look.scheme)
			assertAccessible(t, b, axe, filepath.Join(dir, name+".html"), name+", "+look.name)
		}
	}
	assert.Empty(t, b.complaints())
}
