package client_test

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
)

const spelled = `k+y/"se<cr>et&'7é=x`

func TestRedactorFindsEverySpelling(t *testing.T) {
	r := client.NewRedactor(map[string]string{spelled: "$NAME"})
	marshalled, err := json.Marshal(spelled)
	require.NoError(t, err)
	quoted := strings.Trim(string(marshalled), `"`)
	slashes := strings.NewReplacer(`"`, `\"`, "/", `\/`).Replace(spelled)
	all := map[string]string{
		"plain": spelled, "json": quoted, "slashes": slashes, "ascii": strings.ReplaceAll(slashes, "é", `\u00e9`), "json in json": strconv.Quote(slashes),
		"html": html.EscapeString(spelled), "quot": strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&quot;", "'", "&#x27;").Replace(spelled),
		"html in json": strings.ReplaceAll(html.EscapeString(spelled), "&", `\u0026`),
		"query":        url.QueryEscape(spelled), "lower percent": strings.ToLower(url.PathEscape(spelled)), "segments": strings.ReplaceAll(url.PathEscape(spelled), "%2F", "/"),
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
