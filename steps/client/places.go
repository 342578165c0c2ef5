package client

import (
	"encoding/json"
	"fmt"
	"maps"
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
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if !plainHeader(name) && slices.ContainsFunc(header[name], func(v string) bool { return r.Own(v) != v }) {
			found = append(found, reports.SecretPlace{Header: name})
		}
	}
	for i, value := range secretValues(body) {
		if value.Type == gjson.String && r.ofBody(value.Str) != value.Str {
			found = append(found, reports.SecretPlace{Pointer: fmt.Sprintf("/secrets/%d/value", i)})
		}
	}
	return found
}

// secretValues are the values of a deployment's own secrets in a body.
func secretValues(body []byte) (all []gjson.Result) {
	if len(body) == 0 || !json.Valid(body) {
		return nil
	}
	for _, secret := range gjson.GetBytes(body, "secrets").Array() {
		all = append(all, secret.Get("value"))
	}
	return all
}

// plainHeader tells whether the suite sends the same values of a header whatever the configuration is.
func plainHeader(name string) bool {
	return slices.Contains([]string{"Accept", "Content-Type", "Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"}, name)
}

// Sent returns a copy of the header of a request as it is to be recorded.
func (r *Redactor) Sent(h http.Header) map[string][]string {
	known, clean := r.known.Load(), make(map[string][]string, len(h))
	for name, values := range h {
		for _, v := range values {
			if at := known.own.Replace(v); at != v && !plainHeader(name) {
				clean[name] = append(clean[name], r.Text(at)) // what looks like a name is one: the configuration holds the value
				continue
			}
			clean[name] = append(clean[name], r.Record(v))
		}
	}
	return clean
}

// SentBody returns the body of a request as it is to be recorded.
func (r *Redactor) SentBody(body []byte) string {
	text, clean, done := string(body), "", 0
	for _, value := range secretValues(body) {
		if value.Index == 0 || value.Index < done || r.Text(value.Str) != value.Str {
			continue
		}
		if name := r.ofBody(value.Str); name != value.Str {
			clean += r.Record(text[done:value.Index]) + `"` + name + `"`
			done = value.Index + len(value.Raw)
		}
	}
	return clean + r.Record(text[done:])
}

// ofBody is the value of a deployment's own secret without secrets: a short one is all of it.
func (r *Redactor) ofBody(value string) string {
	r.mu.Lock()
	name, is := r.secrets[value]
	r.mu.Unlock()
	if is {
		return name
	}
	return r.Text(value)
}
