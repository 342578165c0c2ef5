package evidence

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/client"
)

// TestAnOwnTokenIsFound: also a short one, and where an answer is not recorded whole. A tenant ID names an owner, and
// what a gateway wants is no token of the caller.
func TestAnOwnTokenIsFound(t *testing.T) {
	const token = `tok"en/1`
	w := recorder{redact: client.NewRedactor(map[string]string{token: "$A", "the-tenant": "$B", "the-gateway": "$C"}),
		Reach: Reach{TenantHeader: "X-Tenant-Id", Gateway: []string{"X-Gateway"}}}
	r := client.Request{Header: http.Header{"Authorization": {"Bearer " + token}, "X-Tenant-Id": {"the-tenant"},
		"X-Gateway": {"the-gateway"}, "Accept": {"*/*"}}}
	sent := w.redact.Request(r.Header, nil)
	for body, want := range map[string]string{
		`{"a":null,"b":[1,{"c~/d":"x tok\"en/1 y"}]}`: "/b/1/c~0~1d",
		`{"a":true,"tok\"en/1":"in a name only"}`:     "",
		`plain tok"en/1`: "",
		`["` + strings.Repeat("x", 120_000) + `","tok\"en/1"]`:                "/1",
		strings.Repeat("[", 9000) + `"tok\"en/1"` + strings.Repeat("]", 9000): "", // deeper than is looked into
	} {
		if pointer := w.ownTokenIn(r, sent, &client.Answer{Body: []byte(body)}); assert.NotNil(t, pointer, "%.60s", body) {
			assert.Equal(t, want, *pointer)
		}
	}
	assert.Nil(t, w.ownTokenIn(r, sent, &client.Answer{Body: []byte(`{"a":"tok","b":"the-tenant","c":"the-gateway"}`)}))
}
