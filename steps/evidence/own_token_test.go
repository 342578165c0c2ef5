package evidence

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// TestAnOwnTokenIsFound checks each spelling of a token, and tokens beyond the recorded part of a body. A short token
// counts only if it is the whole string. A tenant ID and the value of a header for a gateway are not tokens of the
// caller.
func TestAnOwnTokenIsFound(t *testing.T) {
	const long, short, nowhere = `tok"en/1-of-ada`, "test", "nowhere"
	w := recorder{redact: client.NewRedactor(map[string]string{long: "$A", short: "$S", "the-tenant": "$B", "the-gateway": "$C"}),
		Reach: Reach{TenantHeader: "X-Tenant-Id", Gateway: []string{"X-Gateway"}}}
	for _, c := range []struct{ token, body, want string }{
		{long, `{"a":null,"b":[1,{"c~/d":"x tok\"en/1-of-ada y"}]}`, "/b/1/c~0~1d"},
		{long, `{"a":true,"tok\"en/1-of-ada":"in a name only"}`, ""},
		{long, `plain tok"en/1-of-ada`, ""},
		{long, `{"a":"tok\"en\/1-of-ada"}`, "/a"},
		{long, `["` + strings.Repeat("x", 120_000) + `","tok\"en/1-of-ada"]`, "/1"},
		{long, strings.Repeat("[", 9000) + `"tok\"en/1-of-ada"` + strings.Repeat("]", 9000), ""}, // deeper than is looked into
		{long, `{"a":"tok","b":"the-tenant","c":"the-gateway"}`, nowhere},
		{short, `{"token":"test"}`, "/token"},
		{short, `{"latest_revision_id":"a test"}`, nowhere},
	} {
		r := exchange.Request{Header: http.Header{"Authorization": {"Bearer " + c.token}, "X-Tenant-Id": {"the-tenant"},
			"X-Gateway": {"the-gateway"}, "Accept": {"*/*"}}}
		found := nowhere
		if pointer := w.ownTokenIn(r, w.redact.Request(r.Header, nil), &exchange.Response{Body: []byte(c.body)}); pointer != nil {
			found = *pointer
		}
		assert.Equal(t, c.want, found, "%.60s", c.body)
	}
}
