package target

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/config"
)

func TestWrongHeader(t *testing.T) {
	token := config.User{Name: "ada", Token: "secret"}
	basic := config.User{Name: "ada", Headers: map[string]string{"authorization": "Basic abcd"}}
	keyed := config.User{Name: "ada", Headers: map[string]string{"x-user-key": "abcd", "X-Org": "7"}}
	for name, c := range map[string]struct {
		user config.User
		kind string
		want http.Header
	}{
		"nobody":               {token, NoCredentials, http.Header{}},
		"unknown token":        {token, anUnknownToken, http.Header{"Authorization": {"Bearer " + wrongToken}}},
		"empty token":          {token, anEmptyToken, http.Header{"Authorization": {"Bearer "}}},
		"another scheme":       {token, anotherScheme, http.Header{"Authorization": {"Basic secret"}}},
		"basic, unknown":       {basic, anUnknownToken, http.Header{"Authorization": {"Basic " + wrongToken}}},
		"basic, other scheme":  {basic, anotherScheme, http.Header{"Authorization": {"Bearer abcd"}}},
		"keys, unknown":        {keyed, anUnknownToken, http.Header{"X-User-Key": {wrongToken}, "X-Org": {wrongToken}}},
		"keys, empty":          {keyed, anEmptyToken, http.Header{"X-User-Key": {""}, "X-Org": {""}}},
		"keys, another scheme": {keyed, anotherScheme, http.Header{"Authorization": {"Basic " + wrongToken}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, wrongHeader(c.user, c.kind))
		})
	}
	assert.Equal(t, http.Header{"Authorization": {"Bearer secret"}}, userHeader(token))
}
