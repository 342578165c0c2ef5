package faults

import (
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/fixtures"
)

// otherStatuses differ in HTTP statuses that the interface leaves open.
func otherStatuses() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "updates-wait-for-builds", Place: "control plane 400", Differs: "an update returns 409 until the latest revision has a final status",
			Apply: compose(paced(15*time.Millisecond), around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if updateDeployment.is(r) {
					path := "/v2/deployments/" + deploymentOf(r) + "/revisions/" + text(lookAtDeployment(next, r), "latest_revision_id")
					if status := text(look(next, r, path, ""), "status"); status != "" && status != "DEPLOYED" && !strings.HasSuffix(status, "_FAILED") {
						a := deviate.Answer{Header: http.Header{}}
						a.Refuse(http.StatusConflict, "The latest revision is "+status+".")
						a.Send(w)
						return
					}
				}
				next.ServeHTTP(w, r)
			})),
		},
	}
}

// otherContents differ in contents that the interface leaves open.
func otherContents() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "other-words", Place: "error texts", Differs: "error details and messages are worded differently",
			Apply: onPlane(func(a *deviate.Answer) {
				a.Edit(func(o map[string]any) {
					if detail := text(o, "detail"); detail != "" && a.Status == http.StatusNotFound {
						o["detail"] = "Nicht da: «" + strings.TrimSuffix(strings.TrimPrefix(detail, "Deployment ID "), " not found.") + "»"
					}
					for _, problem := range items(o["detail"]) {
						problem["msg"], problem["type"] = "¯\\_(ツ)_/¯", "E-0815"
					}
				})
			}),
		},
	}
}

// branded are the names of a vendor for those that the interface shows in neutral words.
var branded = map[string]string{
	"git_host": "kilnhub", "external_container": "kiln_image", "internal_container": "kiln_bundle", "graph_config_path": "kiln_config_path",
	"graph_auth_user": "kiln_auth_user",
}

// otherWords differ in what the neutral words are called, as the key vocabulary of a configuration says.
func otherWords() []EquivalentMutant {
	return []EquivalentMutant{
		{Name: "branded-words", Differs: "the names that the interface shows in neutral words are a vendor's, and a branch is called git_host",
			Apply: compose(branchCalled("git_host"), speaking(branded))},
		{Name: "branded-words-self-hosted", Differs: "the names that the interface shows in neutral words are a vendor's, self-hosted",
			Edition: selfHosted, Apply: speaking(branded)},
	}
}

// branchCalled serves the main branch under another name.
func branchCalled(name string) Layer {
	swap := map[string]string{name: fixtures.MainBranch, fixtures.MainBranch: name}
	rename := func(o map[string]any) {
		if as := swap[text(o, "repo_ref")]; as != "" {
			o["repo_ref"] = as
		}
	}
	return compose(func(o *reference.Options) {
		addFixtures(o, func(set *fixtures.Set) {
			rename(sourceOf(set.Create))
			set.CommitIDs = maps.Clone(set.CommitIDs)
			set.CommitIDs[name] = set.CommitIDs[fixtures.MainBranch]
		})
	}, around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if createDeployment.is(r) || updateDeployment.is(r) {
			editBody(r, eachObject(rename))
		}
		if !isPlane(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := deviate.Capture(next, r)
		if a.Status < 300 {
			a.Edit(eachObject(rename))
		}
		a.Send(w)
	}))
}

// addFixtures changes what a harness is told, after what other layers change.
func addFixtures(o *reference.Options, change func(*fixtures.Set)) {
	inner := o.WrapFixtures
	o.WrapFixtures = func(set *fixtures.Set) {
		if inner != nil {
			inner(set)
		}
		change(set)
	}
}

// speaking serves the reference with other neutral words, and knows the interface's own no longer.
func speaking(words map[string]string) Layer {
	ours := map[string]string{}
	for name := range words {
		ours[name] = "not_" + name
	}
	for name, as := range words {
		ours[as] = name
	}
	return compose(func(o *reference.Options) {
		addFixtures(o, func(set *fixtures.Set) { set.Vocabulary = words })
	}, around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !isPlane(r) {
			next.ServeHTTP(w, r)
			return
		}
		if createDeployment.is(r) || updateDeployment.is(r) {
			editBody(r, eachObject(respell(ours)))
		}
		a := deviate.Capture(next, r)
		a.Edit(eachObject(respell(words)))
		a.Send(w)
	}))
}

// respell replaces the source of an object, and the names of the fields of its configuration.
func respell(words map[string]string) func(o map[string]any) {
	return func(o map[string]any) {
		if as := words[text(o, "source")]; as != "" {
			o["source"] = as
		}
		config, changed := object(o["source_revision_config"]), map[string]any{}
		for name, value := range config {
			if as := words[name]; as != "" {
				changed[as] = value
				delete(config, name)
			}
		}
		maps.Copy(config, changed)
	}
}
