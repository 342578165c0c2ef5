package faults

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/fixtures"
)

// branded are the names of a vendor for those that the interface shows in neutral words.
var branded = map[string]string{
	"git_host": "kilnhub", "external_container": "kiln_image", "internal_container": "kiln_bundle", "graph_config_path": "kiln_config_path",
	"graph_auth_user": "kiln_auth_user",
}

// renamedFields are names that a vendor has changed beyond these: fields, parameters and values of both halves.
var renamedFields = map[string]string{
	"id": "uid", "latest_revision_id": "current", "source": "origin", "source_config": "origin_options", "repo_ref": "git_ref", "status": "state",
	"resources": "items", "offset": "position", "limit": "page_size", "DEPLOYED": "LIVE", "detail": "errors", "type": "kind",
	"thread_id": "conversation", "run_id": "job", "assistant_id": "graph", "input": "payload", "multitask_strategy": "on_conflict",
	"rollback": "discard", "values": "data", "messages": "entries", "role": "sender", "content": "text", "human": "person",
}

// otherWords differ in what names of the interface are called, as the key vocabulary of a configuration says.
func otherWords() []EquivalentMutant {
	return []EquivalentMutant{
		{Name: "branded-words", Differs: "the names that the interface shows in neutral words are a vendor's, and a branch is called git_host",
			Apply: compose(branchCalled("git_host"), speaking(branded))},
		{Name: "branded-words-self-hosted", Differs: "the names that the interface shows in neutral words are a vendor's, self-hosted",
			Edition: selfHosted, Apply: speaking(branded)},
		{Name: "source-is-origin", Differs: "the field source is called origin", Apply: speaking(map[string]string{"source": "origin"})},
		{Name: "many-renamed-names", Differs: "fields, parameters and values of both halves have other names", Apply: speaking(renamedFields)},
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
		a := capture(next, r)
		if a.status < 300 {
			a.edit(eachObject(rename))
		}
		a.send(w)
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

// form lists the names of the interface in an object: the form of each field's value, or "" where that has none.
type form map[string]string

// The forms of the interface's objects (section 2 and section 4). "[]x" is an array of x; "=x" is one of the values x.
var wordForms = map[string]form{
	"deployment": {"id": "", "latest_revision_id": "", "source": "=source", "source_config": "options", "source_revision_config": "config"},
	"revision":   {"id": "", "created_at": "", "updated_at": "", "status": "=status", "source": "=source", "source_revision_config": "config"},
	"creation": {"id": "", "latest_revision_id": "", "source": "=source", "source_config": "options", "source_revision_config": "config",
		"status": "=status", "created_at": "", "updated_at": ""},
	"options": {"build_on_push": ""},
	"config":  {"repo_ref": "", "graph_config_path": "", "image_uri": "", "repo_commit_sha": ""},
	"page":    {"resources": "[]revision", "offset": ""},
	"listing": {"resources": "[]deployment", "offset": ""},
	"refusal": {"detail": "[]problem"},
	"problem": {"loc": "", "msg": "", "type": ""},
	"thread":  {"thread_id": ""},
	"run":     {"run_id": "", "assistant_id": "", "multitask_strategy": "=strategy"},
	"state":   {"values": "values"},
	"values":  {"messages": "[]message"},
	"message": {"type": "=message", "content": ""},
	"order":   {"assistant_id": "", "input": "input", "multitask_strategy": "=strategy"},
	"input":   {"messages": "[]entry"},
	"entry":   {"role": "", "content": ""},
	"search":  {"limit": "", "offset": "", "metadata": "", "ids": ""},
}

var valuesOf = map[string][]string{
	"=source": {"git_host", "external_container", "internal_container"}, "=status": {"DEPLOYED"},
	"=message": {"human", "ai", "tool"}, "=strategy": {"rollback"},
}

// spoken are the operations whose bodies have names of the interface.
var spoken = []struct {
	operation
	request, answer string
}{
	{createDeployment, "creation", "deployment"}, {updateDeployment, "creation", "deployment"}, {getDeployment, "", "deployment"},
	{operation{http.MethodGet, createDeployment.path}, "", "listing"},
	{listRevisions, "", "page"}, {getRevision, "", "revision"}, {createThread, "", "thread"}, {listThreads, "", "[]thread"},
	{searchThreads, "search", "[]thread"}, {createRun, "order", "run"}, {getRun, "", "run"}, {getState, "", "state"},
}

// speaking serves the reference with other names, and knows the interface's own no longer.
func speaking(words map[string]string) Layer {
	to, from := dialect{words}, dialect{map[string]string{}}
	for ours, theirs := range words {
		from.words[theirs] = ours
		if _, taken := from.words[ours]; !taken {
			from.words[ours] = "not_" + ours
		}
	}
	return compose(func(o *reference.Options) {
		addFixtures(o, func(set *fixtures.Set) { set.Vocabulary = words })
	}, around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		i := slices.IndexFunc(spoken, func(s struct {
			operation
			request, answer string
		}) bool {
			return s.is(r)
		})
		if i < 0 {
			next.ServeHTTP(w, r)
			return
		}
		if listRevisions.is(r) || r.Method == http.MethodGet && createDeployment.path.MatchString(r.URL.Path) {
			r.URL.RawQuery = from.query(r.URL.RawQuery)
		}
		if value := decodedValue(readBody(r)); spoken[i].request != "" && value != nil {
			setBody(r, encoded(from.asked(value, spoken[i].request)))
		}
		a := capture(next, r)
		if json.Valid(a.body) {
			a.body = encoded(to.answered(a.status, decodedValue(a.body), spoken[i].answer))
		}
		a.send(w)
	}))
}

// dialect translates names in one direction.
type dialect struct{ words map[string]string }

func (d dialect) name(s string) string {
	if d.words[s] != "" {
		return d.words[s]
	}
	return s
}

// answered translates an answer into a vendor's names. In a validation error that is also what loc points to.
func (d dialect) answered(status int, value any, kind string) any {
	switch {
	case status < 300:
		return d.told(value, kind)
	case status == http.StatusUnprocessableEntity:
		walk(value, func(o map[string]any) {
			loc, _ := o["loc"].([]any)
			for i, part := range loc {
				if s, is := part.(string); is {
					loc[i] = d.name(s)
				}
			}
		})
		return d.told(value, "refusal")
	}
	return d.told(value, "refusal")
}

// told translates a value of the interface into a vendor's names.
func (d dialect) told(value any, kind string) any {
	return d.each(value, kind, func(key, _ string) string { return d.name(key) }, func(key string) string { return key })
}

// asked translates a value with a vendor's names into the interface's.
func (d dialect) asked(value any, kind string) any {
	return d.each(value, kind, func(_, ours string) string { return ours }, d.name)
}

// each translates the keys that the form of an object has, and the values that the interface lists. ours says what the interface
// calls a key.
func (d dialect) each(value any, kind string, rename func(key, ours string) string, ours func(string) string) any {
	if list, is := value.([]any); is {
		inner, array := strings.CutPrefix(kind, "[]")
		for i := range list {
			if array {
				list[i] = d.each(list[i], inner, rename, ours)
			}
		}
		return list
	}
	if s, is := value.(string); is && strings.HasPrefix(kind, "=") && (slices.Contains(valuesOf[kind], s) || slices.Contains(valuesOf[kind], d.name(s)) || strings.HasPrefix(d.name(s), "not_")) {
		return d.name(s)
	}
	object, is := value.(map[string]any)
	if !is {
		return value
	}
	result := map[string]any{}
	for key, item := range object {
		name := ours(key)
		inner, known := wordForms[kind][name]
		switch {
		case known:
			result[rename(key, name)] = d.each(item, inner, rename, ours)
		case strings.HasPrefix(name, "not_") && wordForms[kind] != nil:
			result[name] = item
		default:
			result[key] = item
		}
	}
	return result
}

// query translates the names and the listed values of parameters.
func (d dialect) query(raw string) string {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return raw
	}
	result := url.Values{}
	for name, values := range q {
		name = d.name(name)
		for i, value := range values {
			if name == "status" {
				list := strings.Split(value, ",")
				for j := range list {
					list[j] = d.name(list[j])
				}
				values[i] = strings.Join(list, ",")
			}
		}
		result[name] = values
	}
	return result.Encode()
}
