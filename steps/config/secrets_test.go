package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSecretsOutsideOfTheCredentialKeys: user info in any URL, and strings in a secret that is JSON.
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
	assert.Equal(t, []string{"$AGENTCONFORM_ALTERNATIVES_IMAGE_URI_USERINFO", "$AGENTCONFORM_CREDENTIALS_API_KEY"}, c.ShortSecrets())
}

// TestCommonTextsAreNamed: a secret that is also the name of a user would spoil every report.
func TestCommonTextsAreNamed(t *testing.T) {
	c := Default()
	c.Users = []User{{Name: "conformance-user", Token: "conformance-user"}, {Name: "b", Token: "a-token-of-many-characters"}}
	assert.Equal(t, []string{"$AGENTCONFORM_USERS_0_TOKEN"}, c.ShortSecrets())
}
