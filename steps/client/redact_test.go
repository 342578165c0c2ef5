package client_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
)

const (
	secret = `pa"ss w/ord+1`
	longer = `pa"ss w/ord+1-and-more`
)

func redactor() *client.Redactor {
	return client.NewRedactor(map[string]string{secret: "$SHORT", longer: "$LONG"})
}

func TestExcerptLeavesNoBeginningOfASecret(t *testing.T) {
	for _, cut := range []string{"", " ...", "…"} {
		for n := 4; n <= len(secret); n++ {
			clean := redactor().Excerpt("the value " + secret[:n] + cut)
			assert.NotContains(t, clean, secret[:4], "%d%s", n, cut)
			assert.True(t, strings.HasPrefix(clean, "the value "), clean)
		}
	}
	for n := 4; n <= len(secret); n++ {
		clean := redactor().Excerpt("expected ... " + secret[len(secret)-n:] + " and " + secret[:n] + " ..., got x")
		assert.NotContains(t, clean, secret[:4], "%d", n)
		assert.NotContains(t, clean, secret[len(secret)-4:], "%d", n)
		assert.True(t, strings.HasPrefix(clean, "expected ...") && strings.HasSuffix(clean, "..., got x"), clean)
	}
	assert.Equal(t, "nothing here", redactor().Excerpt("nothing here"))
	assert.Equal(t, "a ... b", redactor().Excerpt("a ... b"))
}

func TestCurl(t *testing.T) {
	r := redactor()
	m := reports.Message{
		Headers: map[string][]string{"X-Api-Key": {"$SHORT"}, "Empty": {""}, "Other": {"$SHORT"}},
		Body:    `{"a":"it's $HOME","id":"$SHORT","secrets":[{"name":"n","value":"$SHORT"}]}`,
		Secrets: []reports.SecretPlace{{Header: "X-Api-Key"}, {Pointer: "/secrets/0/value"}},
	}
	line := r.Curl("POST", "http://h/a?b=c&d='x'&e=$SHORT", m, nil)
	assert.Equal(t, `curl -sS -i -X POST -H 'Empty;' -H 'Other: $SHORT' -H 'X-Api-Key: '"$SHORT" `+
		`--data-raw '{"a":"it'\''s $HOME","id":"$SHORT","secrets":[{"name":"n","value":"'"$SHORT"'"}]}' 'http://h/a?b=c&d='\''x'\''&e=$SHORT'`, line)
}

// TestCurlKeepsDotSegments checks that curl does not shorten a path.
func TestCurlKeepsDotSegments(t *testing.T) {
	for url, want := range map[string]string{
		"http://h/a.b/...":       "curl -sS -i 'http://h/a.b/...'",
		"http://h/docs/../a":     "curl -sS -i --path-as-is 'http://h/docs/../a'",
		"http://h/docs/%2E%2e/a": "curl -sS -i --path-as-is 'http://h/docs/%2E%2e/a'",
		"http://h/a/.":           "curl -sS -i --path-as-is 'http://h/a/.'",
	} {
		assert.Equal(t, want, redactor().Curl("GET", url, reports.Message{}, nil))
	}
}

func TestWhatLooksLikeAPlaceholderIsEscaped(t *testing.T) {
	r := redactor()
	for sent, recorded := range map[string]string{
		"id-$AGENTCONFORM_X":         "id-$_AGENTCONFORM_X",
		"${AGENTCONFORM_X}":          "$_{AGENTCONFORM_X}",
		"$_AGENTCONFORM_X":           "$_AGENTCONFORM_X",
		"$$AGENTCONFORM_X " + secret: "$$_AGENTCONFORM_X $SHORT",
		"x" + longer + secret:        "x$LONG$SHORT", // the longer secret is replaced first
	} {
		assert.Equal(t, recorded, r.Record(sent))
	}
}

func TestCommandCanBePasted(t *testing.T) {
	got := redactor().Command("agentconform", "run", "--only", "CP-LIST-*", "--tags", "@must and not @slow", "--out", "it's", "--target", "http://u:"+longer+"@h")
	assert.Equal(t, `agentconform run --only 'CP-LIST-*' --tags '@must and not @slow' --out 'it'\''s' --target 'http://u:'"$LONG"'@h'`, got)
}

// TestShortSecretsAreReplacedAtTheirOwnPlace uses secrets like "1", whose replacement everywhere would destroy reports.
func TestShortSecretsAreReplacedAtTheirOwnPlace(t *testing.T) {
	r := client.NewRedactor(map[string]string{"1": "$ONE", "conformance-graph": "$COMMON", "//u:pw@": "$INFO", "elevenchars": "$ELEVEN"}, "conformance-graph")
	for _, text := range []string{`{"a":1,"id":"1"}`, "conformance-graph", "http://h/1", "elevenchars"} {
		assert.Equal(t, text, r.Text(text))
		assert.Equal(t, text, r.Record(text))
		assert.Equal(t, text, r.Excerpt(text))
	}
	h := http.Header{"X-Api-Key": {"1"}, "Authorization": {"Bearer conformance-graph"}, "Accept": {"text/1"}, "X-Name": {"$AGENTCONFORM_X"}}
	assert.Equal(t, map[string][]string{"X-Api-Key": {"$ONE"}, "Authorization": {"Bearer $COMMON"}, "Accept": {"text/1"}, "X-Name": {"$_AGENTCONFORM_X"}}, r.Request(h, nil).Headers)
	body := []byte(`{"n":1, "secrets": [{"name":"1","value":"1"}, {"name":"b","value":"11"}], "name":"1"}`)
	assert.Equal(t, `{"n":1, "secrets": [{"name":"1","value":"$ONE"}, {"name":"b","value":"11"}], "name":"1"}`, r.Request(nil, body).Body)
	assert.Equal(t, []reports.SecretPlace{{Header: "Authorization"}, {Header: "X-Api-Key"}, {Pointer: "/secrets/0/value"}}, r.Request(h, body).Secrets)
	assert.Equal(t, `{"u":"https://$INFO@git.example"}`, r.Request(nil, []byte(`{"u":"https://u:pw@git.example"}`)).Body)
	assert.Contains(t, r.Text(`https:\/\/u:pw@git.example`), "$INFO@git.example")
	assert.Equal(t, "agentconform run --target 'https://'\"$INFO\"'@h'", r.Command("agentconform", "run", "--target", "https://u:pw@h"))
}
