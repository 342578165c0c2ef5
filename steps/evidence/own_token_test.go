package evidence

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/client"
)

// TestTokensOf: a tenant ID names an owner, and what a gateway wants is no token of the caller.
func TestTokensOf(t *testing.T) {
	w := recorder{redact: client.NewRedactor(map[string]string{"the-token": "$A", "the-tenant": "$B", "the-gateway": "$C"}),
		Reach: Reach{TenantHeader: "X-Tenant-Id", Gateway: []string{"X-Gateway"}}}
	assert.Equal(t, []string{"the-token"}, w.tokensOf(http.Header{"Authorization": {"Bearer the-token"}, "X-Tenant-Id": {"the-tenant"}, "X-Gateway": {"the-gateway"}, "Accept": {"*/*"}}))
}

func TestTokenIn(t *testing.T) {
	const token = "tok\"en/1"
	for body, want := range map[string]string{
		`{"a":null,"b":[1,{"c~/d":"x tok\"en/1 y"}]}`: "/b/1/c~0~1d",
		`"tok\"en/1"`: "",
		`{"a":true,"tok\"en/1":"in a name only"}`: "",
		`plain tok"en/1`: "",
		strings.Repeat("[", 500) + `"tok\"en/1"` + strings.Repeat("]", 500):   strings.Repeat("/0", 500),
		strings.Repeat("[", 9000) + `"tok\"en/1"` + strings.Repeat("]", 9000): "", // deeper than is looked into
	} {
		pointer, found := tokenIn(&client.Answer{Body: []byte(body)}, token)
		assert.True(t, found, "%.60s", body)
		assert.Equal(t, want, pointer)
	}
	_, found := tokenIn(&client.Answer{Body: []byte(`{"a":"tok"}`)}, token)
	assert.False(t, found)
}
