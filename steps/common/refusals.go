package common

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
)

// RefusedNaming holds an answer to a refusal with 422 whose errors name the parameters (sections 4, 7 and 8).
func RefusedNaming(a *client.Answer, parameters ...string) error {
	if a.Status != http.StatusUnprocessableEntity {
		return outcome.Violated(a, "status 422", "%s", outcome.Seen(a))
	}
	for _, p := range parameters {
		if !Names(a, p) {
			return outcome.Violated(a, "an error that names "+p, "%s", outcome.Seen(a)).At("/detail")
		}
	}
	return nil
}

// DetailContains holds a refusal to a detail that contains an id (section 7).
func DetailContains(a *client.Answer, id string) error {
	text := string(a.Body)
	if detail := a.Get("detail"); detail.Type == gjson.String {
		text = detail.Str
	}
	if !strings.Contains(strings.ToLower(text), id) {
		return outcome.Violated(a, "a detail that names "+id, "%s", outcome.Seen(a)).At("/detail")
	}
	return nil
}
