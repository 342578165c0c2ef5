package config

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSecretsOutsideOfTheCredentialKeys checks user info in any URL, and strings in a secret that is JSON.
func TestSecretsOutsideOfTheCredentialKeys(t *testing.T) {
	c := Default()
	c.Target, c.Credentials.APIKey = "http://control.example", "short"
	c.Create.Body = map[string]any{
		"source_config": map[string]any{"repo_url": "https://x-token:ghp_0123456789abcdef@git.example/a", "note": "see git+https://glpat%2D0123456789@git.example and http://plain.example/a@b"},
		"secrets":       []any{map[string]any{"name": "KEY", "value": `{"private_key":"-----BEGIN-----\nabcdefghij","kind":"short","deep":[{"a":"0123456789abc"}]}`}},
	}
	c.Alternatives.ImageURI = "https://u:pw@registry.example/image:1"
	c.Fixtures.Advertise = "http://host.example"
	c.Headers.ControlPlane = map[string]string{"X-Gateway": "Basic b25seS1hLXRva2VuLTE="}
	all := c.Secrets()
	for secret, name := range map[string]string{
		"ghp_0123456789abcdef":         "$AGENTCONFORM_CREATE_BODY_SOURCE_CONFIG_REPO_URL_USERINFO",
		"x-token:ghp_0123456789abcdef": "$AGENTCONFORM_CREATE_BODY_SOURCE_CONFIG_REPO_URL_USERINFO",
		"glpat%2D0123456789":           "$AGENTCONFORM_CREATE_BODY_SOURCE_CONFIG_NOTE_USERINFO",
		"glpat-0123456789":             "$AGENTCONFORM_CREATE_BODY_SOURCE_CONFIG_NOTE_USERINFO",
		"only-a-token-1":               "$AGENTCONFORM_HEADERS_CONTROL_PLANE_X_GATEWAY",
		"//u:pw@":                      "$AGENTCONFORM_ALTERNATIVES_IMAGE_URI_USERINFO",
		"-----BEGIN-----\nabcdefghij":  "$AGENTCONFORM_CREATE_BODY_SECRETS_KEY",
		"0123456789abc":                "$AGENTCONFORM_CREATE_BODY_SECRETS_KEY",
	} {
		assert.Equal(t, name, all[secret], secret)
	}
	for _, other := range []string{"short ", "plain.example", "kind"} {
		assert.NotContains(t, all, other)
	}
	assert.Contains(t, c.ShortSecrets(), "$AGENTCONFORM_ALTERNATIVES_IMAGE_URI_USERINFO, $AGENTCONFORM_CREDENTIALS_API_KEY: fewer than 12 characters")
}

// TestCommonTextsAreNamed checks a secret that is also the name of a user, so that it cannot be redacted everywhere.
func TestCommonTextsAreNamed(t *testing.T) {
	c := Default()
	c.Users = []User{{Name: "conformance-user", Token: "conformance-user"}, {Name: "b", Token: "a-token-of-many-characters"}}
	assert.Contains(t, c.ShortSecrets(), "$AGENTCONFORM_USERS_0_TOKEN: ")
}

func TestNearMiss(t *testing.T) {
	basic := func(pair string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) }
	for name, c := range map[string]struct {
		user          User
		longer, other map[string]string
	}{
		"a token":          {User{Token: "tok-Z1"}, map[string]string{"Authorization": "Bearer tok-Z1x"}, map[string]string{"Authorization": "Bearer TOK-z1"}},
		"a uuid":           {User{Token: "1f-2A"}, map[string]string{"Authorization": "Bearer 1f-2Ax"}, nil},
		"a key":            {User{Headers: map[string]string{"X-Key": "key", "X-Auth-Scheme": "own"}}, map[string]string{"X-Key": "keyx", "X-Auth-Scheme": "own"}, map[string]string{"X-Key": "KEY", "X-Auth-Scheme": "own"}},
		"a pair":           {User{Headers: map[string]string{"Authorization": basic("ada:pass")}}, map[string]string{"Authorization": basic("ada:passx")}, map[string]string{"Authorization": basic("ada:PASS")}},
		"basic, no base64": {User{Headers: map[string]string{"Authorization": "Basic zz*"}}, map[string]string{"Authorization": "Basic zz*x"}, map[string]string{"Authorization": "Basic ZZ*"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, HeaderOf(c.longer), c.user.NearMiss(OneMore))
			if other := c.user.NearMiss(OtherCase); c.other != nil || other != nil {
				assert.Equal(t, HeaderOf(c.other), other)
			}
			secrets := (&Config{Users: []User{c.user}}).Secrets()
			for _, wrong := range []map[string]string{c.longer, c.other} {
				for header, value := range wrong {
					if _, behind, both := strings.Cut(value, " "); both {
						value = behind
					}
					if !isPublic("users.0.headers."+header, value) {
						assert.Contains(t, secrets, value, "a credential with a mistake is a secret as well")
					}
				}
			}
		})
	}
}

func TestWithToken(t *testing.T) {
	for _, row := range []struct {
		user User
		want http.Header
	}{
		{User{Token: "t-of-ada"}, http.Header{"Authorization": {"Bearer other"}}},
		{User{Headers: map[string]string{"X-Session": "s-of-ada", "X-Auth-Scheme": "jwt", "Authorization": "Token t-of-ada"}},
			http.Header{"X-Session": {"other"}, "X-Auth-Scheme": {"jwt"}, "Authorization": {"Token other"}}},
	} {
		assert.Equal(t, row.want, row.user.WithToken("other"))
	}
}

func TestTheLastCharacter(t *testing.T) {
	for secret, want := range map[string][2]string{
		"token-Q":  {"token-", "token-w"},
		"f0-0a":    {"f0-0", "f0-02"},
		"bytesA==": {"bytesA==", "bytesg=="},
		"key!":     {"key", "keyA"},
		"naïveé":   {"naïve", "naïveA"},
		"x":        {"x", "x"},
	} {
		assert.Equal(t, want, [2]string{OneLess.In(secret), OtherEnd.In(secret)}, secret)
		if want[1] != secret {
			c := &Config{Users: []User{{Token: secret}}}
			assert.Contains(t, c.Secrets(), OneLess.In(secret), "it reveals almost the whole secret")
			shown, _ := OtherEnd.shown("users.0.token", secret)
			assert.Contains(t, c.Secrets(), shown)
		}
	}
}
