package client_test

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/client/clienttest"
)

const spelled = `k+y/"se<cr>et&'7é=x`

func each(s, format string) string {
	var b strings.Builder
	for _, c := range s {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func TestRedactorFindsEverySpelling(t *testing.T) {
	r := client.NewRedactor(map[string]string{spelled: "$NAME"})
	slashes := strings.NewReplacer(`"`, `\"`, "/", `\/`).Replace(spelled)
	all := map[string]string{
		"plain": spelled, "slashes": slashes, "html": html.EscapeString(spelled), "query": url.QueryEscape(spelled),
		"lower percent": strings.ToLower(url.PathEscape(spelled)), "decimal": each(spelled, "&#%d;"), "zeros": each(spelled, "&#0%d;"), "hex": each(spelled, "&#x%x;"),
		"upper hex": each(spelled, "&#X%X;"), "json": each(spelled, `\u%04x`), "upper json": each(spelled, `\u%04X`), "named": strings.NewReplacer(
			"+", "&plus;", "/", "&sol;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "&", "&amp;", "'", "&apos;", "=", "&equals;").Replace(spelled),
		"mixed": strings.NewReplacer("+", `\u002B`, "/", "%2f", "&", "&#38;").Replace(strings.ReplaceAll(spelled, `"`, `\"`)),
	}
	for _, front := range []string{"", "a", "ab", "abc", "user:"} {
		for name, e := range map[string]*base64.Encoding{"std": base64.StdEncoding, "url": base64.RawURLEncoding} {
			all["base64 "+name+" "+front] = e.EncodeToString([]byte(front + spelled + "zz"))
		}
	}
	for name, text := range all {
		got := r.Text("x " + text + " y")
		assert.Contains(t, got, "$NAME", "%s: %s", name, text)
		assert.NotContains(t, got, text, name)
		assert.Contains(t, r.Record(text), "$NAME", name)
	}
	assert.Equal(t, `50% \u002b &amp; text`, r.Text(`50% \u002b &amp; text`))
}

// TestEverySpellingOfTheListIsFound compares the list with what spells them, and with SECURITY.md.
func TestEverySpellingOfTheListIsFound(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "SECURITY.md"))
	require.NoError(t, err)
	for _, secret := range []string{`k+y/"se<cr>et&=7xyz`, "a line\nand \U0001F511 another+/", "0123456789ab", `deep\in"the/secret+`} {
		r := client.NewRedactor(map[string]string{secret: "$NAME"})
		all := clienttest.Spelled(secret)
		require.Len(t, all, len(client.Spellings))
		for i, texts := range all {
			assert.Contains(t, string(page), "\n- "+client.Spellings[i]+"\n")
			for _, text := range texts {
				assert.Contains(t, r.Text("x "+text+" y"), "$NAME", "%s: %s", client.Spellings[i], text)
				assert.Contains(t, r.Record(text), "$NAME", "%s: %s", client.Spellings[i], text)
			}
		}
	}
	assert.Equal(t, len(client.Spellings), strings.Count(between(string(page), "## How a secret is spelled", "\n## "), "\n- "))
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

func BenchmarkRedactor(b *testing.B) {
	r := client.NewRedactor(map[string]string{spelled: "$NAME", "another-secret-0123456789": "$B", "third-secret-abcdefghijkl": "$C"})
	for name, text := range map[string]string{
		"plain":   strings.Repeat(`{"id":"0123","status":"DEPLOYED","n":[1,2,3]},`, 2000),
		"escaped": strings.Repeat(`{"id":"0123","text":"a \"b\" \u002b &amp; %2f"},`, 2000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_ = r.Text(text)
			}
		})
	}
}
