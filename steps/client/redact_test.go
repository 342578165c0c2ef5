package client_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/client"
)

const (
	secret = `pa"ss w/ord+1`
	longer = `pa"ss w/ord+1-and-more`
)

func redactor() *client.Redactor {
	return client.NewRedactor(map[string]string{secret: "$SHORT", longer: "$LONG"})
}

func TestRedactorFindsEveryShape(t *testing.T) {
	for name, text := range map[string]string{
		"as it is":    "key=" + secret + ";",
		"in JSON":     `{"key":"pa\"ss w/ord+1"}`,
		"in a query":  "?key=pa%22ss+w%2Ford%2B1&x",
		"in a path":   "/pa%22ss%20w%2Ford+1/",
		"in base64":   "Basic " + base64.StdEncoding.EncodeToString([]byte(secret)),
		"the longer":  longer,
		"inside text": "x" + secret + "y" + secret + "z",
	} {
		t.Run(name, func(t *testing.T) {
			clean := redactor().Text(text)
			assert.NotContains(t, clean, "ord+1")
			assert.NotContains(t, clean, "w%2Ford")
			assert.Contains(t, clean, "$")
		})
	}
	assert.Equal(t, "$LONG", redactor().Text(longer), "a secret that contains another is replaced whole")
}

func TestExcerptLeavesNoBeginningOfASecret(t *testing.T) {
	for _, cut := range []string{"", " ...", "…"} {
		for n := 4; n <= len(secret); n++ {
			clean := redactor().Excerpt("the value " + secret[:n] + cut)
			assert.NotContains(t, clean, secret[:4], "%d%s", n, cut)
			assert.True(t, strings.HasPrefix(clean, "the value "), clean)
		}
	}
	assert.Equal(t, "nothing here", redactor().Excerpt("nothing here"))
}

func TestHeadersAreCopies(t *testing.T) {
	h := http.Header{"X-Api-Key": {secret}, "X-" + "Plain": {"a", "b"}}
	clean := redactor().Header(h)
	assert.Equal(t, []string{"$SHORT"}, clean["X-Api-Key"])
	assert.Equal(t, []string{"a", "b"}, clean["X-Plain"])
	assert.Equal(t, secret, h.Get("X-Api-Key"))
}

func TestCurl(t *testing.T) {
	r := redactor()
	line := r.Curl("POST", "http://h/a?b=c&d='x'", map[string][]string{"X-Api-Key": {"$SHORT"}, "Empty": {""}}, `{"a":"it's $HOME"}`)
	assert.Equal(t, `curl -sS -i -X POST -H 'Empty;' -H 'X-Api-Key: '"$SHORT" --data-raw '{"a":"it'\''s $HOME"}' 'http://h/a?b=c&d='\''x'\'`, line)
}
