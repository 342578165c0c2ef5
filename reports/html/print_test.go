//go:build browser

package html_test

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHTMLIsPrinted prints six kinds of results as PDF: what matters is open.
func TestHTMLIsPrinted(t *testing.T) {
	b := openBrowser(t)
	dir := pages(t, sixResults())
	for name := range sixResults() {
		b.size(1280, 1000, "dark")
		b.open(filepath.Join(dir, name+".html"), "")
		b.eval(`addEventListener("beforeprint", () => { window.seen = {
			text: document.body.innerText, closed: document.querySelectorAll(".problems .req:not([open])").length }; })`)
		before := b.eval(`document.querySelectorAll("details[open]").length`)
		b.pdf()
		assert.Equal(t, "0", b.eval("seen.closed"), "%s: every problem is printed open", name)
		if name == "failed" {
			text := b.eval("seen.text")
			for _, want := range []string{"1773480413", "curl -sS", "Not cleaned up ("} {
				assert.Contains(t, text, want)
			}
		}
		assert.Equal(t, before, b.eval(`document.querySelectorAll("details[open]").length`), "%s: what was closed is closed again", name)
	}
	assert.Empty(t, b.complaints())
}

// pdf prints the page.
func (b *browser) pdf() {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{})
	require.NoError(b.t, err)
	require.Greater(b.t, len(result.Data), 10<<10)
}
