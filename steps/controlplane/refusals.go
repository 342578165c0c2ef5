package controlplane

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
)

// names tells whether a refusal names a parameter: in a loc where there is one, else anywhere in the body. That a
// loc is missing is another requirement's concern.
func names(a *client.Answer, parameter string) bool {
	located := false
	for _, item := range a.Get("detail").Array() {
		loc := item.Get("loc")
		if !loc.IsArray() {
			continue
		}
		for _, part := range loc.Array() {
			located = true
			if part.String() == parameter {
				return true
			}
		}
	}
	return !located && strings.Contains(string(a.Body), parameter)
}

func (w *listing) refusedNaming(parameter string) error { return w.refusedNamingAll(parameter) }

func (w *listing) refusedNamingBoth(first, second string) error {
	return w.refusedNamingAll(first, second)
}

func (w *listing) refusedNamingAll(parameters ...string) error {
	a, err := w.scene.Last()
	if err != nil {
		return err
	}
	if a.Status != http.StatusUnprocessableEntity {
		return outcome.Violated(a, "status 422", "%s", outcome.Seen(a))
	}
	for _, p := range parameters {
		if !names(a, p) {
			return outcome.Violated(a, "a refusal that names "+p, "%s", outcome.Seen(a)).At("/detail")
		}
	}
	return nil
}

func (w *listing) notFoundNaming() error {
	if err := w.notFound(); err != nil {
		return err
	}
	text := string(w.scene.Answer.Body)
	if detail := w.scene.Answer.Get("detail"); detail.Type == gjson.String {
		text = detail.Str
	}
	if !strings.Contains(strings.ToLower(text), w.deployment.ID) {
		return outcome.Violated(w.scene.Answer, "a detail that names "+w.deployment.ID, "%s", outcome.Seen(w.scene.Answer)).At("/detail")
	}
	return nil
}
