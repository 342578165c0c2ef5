package reports

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
)

//go:embed html/page.gohtml html/style.css html/script.js
var htmlFiles embed.FS

// HTML writes r as one page that needs nothing else: no network, no other file, and no script to be read. Scripts
// only add comfort: filters, keys, the evidence of every exchange, which is put into the page as data and shown when
// it is opened. A content security policy in the page forbids all scripts but its own.
func HTML(w io.Writer, r *Result) error {
	assets, err := htmlAssets()
	if err != nil {
		return fmt.Errorf("writing the HTML page: %w", err)
	}
	p := pageOf(r, assets)
	if err := assets.page.Execute(w, p); err != nil {
		return fmt.Errorf("writing the HTML page: %w", err)
	}
	if p.exchanges.err != nil {
		return fmt.Errorf("writing the HTML page: %w", p.exchanges.err)
	}
	return nil
}

// assetsOfPage are the parts of the page that are the same for all results.
type assetsOfPage struct {
	page   *template.Template
	style  template.CSS
	script template.JS
	policy string
}

// htmlAssets reads the assets once.
var htmlAssets = sync.OnceValues(func() (*assetsOfPage, error) {
	style, err := htmlFiles.ReadFile("html/style.css")
	if err != nil {
		return nil, err
	}
	script, err := htmlFiles.ReadFile("html/script.js")
	if err != nil {
		return nil, err
	}
	page, err := template.New("page.gohtml").Funcs(template.FuncMap{"join": strings.Join, "duration": duration}).ParseFS(htmlFiles, "html/page.gohtml")
	if err != nil {
		return nil, err
	}
	policy := fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hashOf(style), hashOf(script))
	return &assetsOfPage{page: page, style: template.CSS(style), script: template.JS(script), policy: policy}, nil //nolint:gosec // our own files
})

func hashOf(source []byte) string {
	sum := sha256.Sum256(source)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
