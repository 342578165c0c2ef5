package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
)

// Places says where the suite has put secrets into a request. Header values come from the configuration alone, so each that
// holds a secret is such a place; in a body it is the values of a deployment's own secrets ({"secrets": [{"name", "value"}]}).
// A secret in any other place was sent by the target.
func (r *Redactor) Places(header http.Header, body []byte) []reports.SecretPlace {
	var found []reports.SecretPlace
	for name, values := range header {
		if slices.ContainsFunc(values, func(v string) bool { return r.Text(v) != v }) {
			found = append(found, reports.SecretPlace{Header: name})
		}
	}
	slices.SortFunc(found, func(a, b reports.SecretPlace) int {
		if a.Header < b.Header {
			return -1
		}
		return 1
	})
	if len(body) == 0 || !json.Valid(body) {
		return found
	}
	for i, secret := range gjson.GetBytes(body, "secrets").Array() {
		if value := secret.Get("value"); value.Type == gjson.String && r.Text(value.Str) != value.Str {
			found = append(found, reports.SecretPlace{Pointer: fmt.Sprintf("/secrets/%d/value", i)})
		}
	}
	return found
}
