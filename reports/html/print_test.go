//go:build browser

package html_test

import (
	"bytes"
	"compress/zlib"
	"io"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHTMLIsPrinted prints six kinds of results as PDF: no page is empty, and what matters is open.
func TestHTMLIsPrinted(t *testing.T) {
	b := openBrowser(t)
	dir := pages(t, sixResults())
	for name := range sixResults() {
		b.size(1280, 1000, "dark")
		b.open(filepath.Join(dir, name+".html"), "")
		b.eval(`addEventListener("beforeprint", () => { window.seen = {
			text: document.body.innerText, closed: document.querySelectorAll(".problems .req:not([open])").length }; })`)
		before := b.eval(`document.querySelectorAll("details[open]").length`)
		written := written(t, b.pdf())
		assert.NotEmpty(t, written, name)
		for i, n := range written {
			assert.Greater(t, n, 1, "%s: page %d of %d is empty", name, i+1, len(written))
		}
		assert.Equal(t, "0", b.eval("seen.closed"), "%s: every problem is printed open", name)
		if name == "failed" {
			text := b.eval("seen.text")
			for _, want := range []string{"1773480413", "curl -sS", "Not cleaned up (", "agentconform-5eed0042-word-3."} {
				assert.Contains(t, text, want)
			}
		}
		assert.Equal(t, before, b.eval(`document.querySelectorAll("details[open]").length`), "%s: what was closed is closed again", name)
	}
	assert.Empty(t, b.complaints())
}

// pdf prints the page.
func (b *browser) pdf() []byte {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{})
	require.NoError(b.t, err)
	return result.Data
}

var (
	pdfPage    = regexp.MustCompile(`(?s)<</Type /Page\n.*?/Contents (\d+) 0 R.*?\nendobj`)
	pdfShowing = regexp.MustCompile(`\bT[jJ]\b`)
)

// written counts for each page of a PDF how many pieces of text it shows.
func written(t *testing.T, pdf []byte) (pieces []int) {
	t.Helper()
	for _, p := range pdfPage.FindAllSubmatch(pdf, -1) {
		id := string(p[1])
		_, object, found := bytes.Cut(pdf, []byte("\n"+id+" 0 obj\n"))
		require.True(t, found, "object %s", id)
		_, stream, found := bytes.Cut(object, []byte("stream\n"))
		require.True(t, found, "the content of object %s", id)
		content, err := zlib.NewReader(bytes.NewReader(stream))
		require.NoError(t, err)
		text, err := io.ReadAll(content)
		require.NoError(t, err)
		pieces = append(pieces, len(pdfShowing.FindAll(text, -1)))
	}
	return pieces
}
