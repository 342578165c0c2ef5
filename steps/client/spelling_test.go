package client_test

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/client"
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
