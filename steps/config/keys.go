package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// keys says of every key what it is for, in one line. Files that are written carry it, and the reference is made of it.
// A test holds it to the structs.
var keys = map[string]string{
	"target":       "base address of the control plane",
	"agent_target": "base address of a deployed agent server; without it the address is read from the created deployment (agent_url_from)",

	"implementation":         "what the reports call the target; nothing depends on it",
	"implementation.name":    "name of the product",
	"implementation.version": "its version",
	"implementation.url":     "where to read about it",
	"implementation.contact": "whom to ask",

	"edition": "cloud or self-hosted: decides which source the target must refuse (create.refused)",

	"credentials":                  "what opens the control plane; better given by the environment: AGENTCONFORM_CREDENTIALS_API_KEY",
	"credentials.api_key":          "the API key",
	"credentials.tenant_id":        "the tenant ID, sent beside the key",
	"credentials.bearer":           "the bearer token, without the word Bearer; sent where there is no key, and tried by itself",
	"credential_headers":           "the headers in which they are sent",
	"credential_headers.api_key":   "of the API key",
	"credential_headers.tenant_id": "of the tenant ID",
	"credential_headers.bearer":    "of the bearer token; any other than Authorization takes it without the word Bearer",
	"tenant_id_alone":              "true where the tenant ID opens the control plane without a key beside it",
	"other_tenant":                 "credentials of a second tenant, for whom the first one's deployments must not exist",
	"other_tenant.api_key":         "the second tenant's API key",
	"other_tenant.tenant_id":       "the second tenant's ID",
	"other_tenant.bearer":          "the second tenant's bearer token",

	"vocabulary": "the target's own words by the interface's, where they differ: values of source, names of fields; bodies below are in the interface's words",

	"create":                         "how deployments are created",
	"create.body":                    "the body of POST /v2/deployments, sent as it is; the suite puts its own text in place of name",
	"create.refused":                 "a body whose source this edition must refuse: git_host on self-hosted, external_container on cloud",
	"alternatives":                   "further sources of the same repository or registry; each enables the requirements that need it",
	"alternatives.repo_ref":          "a second branch, whose graph answers differently",
	"alternatives.tag_ref":           "a tag: refs/tags/...",
	"alternatives.graph_config_path": "a second graph configuration file in the repository",
	"alternatives.image_uri":         "a second image, whose graph answers differently",
	"alternatives.broken_ref":        "a branch that exists and cannot be built",
	"alternatives.broken_image_uri":  "an image that exists and cannot be deployed",
	"alternatives.commits":           "the commit id that each ref points to",

	"agent_url_from": "path of the agent server's address in a deployment (GJSON syntax: a.b for b in a); no address there blocks what needs one, unless the path is the default",

	"users":          "end users of the agent server: the first owns what is created, the second is the stranger; without any the agent server must need none",
	"users.name":     "name of the user, used by the reports",
	"users.token":    "sent as Authorization: Bearer; better given by the environment: AGENTCONFORM_USERS_0_TOKEN",
	"users.headers":  "headers in place of the token, for another scheme",
	"users.identity": "what the handler returns as identity; the name by default",
	"users.fields":   "custom fields that the handler adds to the user, with their values",
	"assistant_id":   "name of the deployed graph that keeps the contract of the conformance graph",

	"agent":                 "what the interface leaves to the agent server",
	"agent.listing":         "how threads are listed: get (GET /threads) or search (POST /threads/search)",
	"agent.rejected_status": "the status with which the handler refuses wrong credentials",
	"agent.rejected_detail": "the detail that it gives; empty: not judged",
	"agent.studio_headers":  "headers by which the handler knows a user of the hosted development environment",

	"timeouts":             "how long the suite waits; durations such as 10s or 5m",
	"timeouts.request":     "for one answer",
	"timeouts.poll":        "for a revision to be DEPLOYED",
	"timeouts.run":         "for a run of the conformance graph, beyond the time that it was told to take",
	"polling":              "how often a status is read",
	"polling.interval":     "at first, then less and less often",
	"polling.max_interval": "at the least",
	"max_deployments":      "deployments that a run may create; 0 is no limit; what a limit forbids is skipped",
	"max_revisions":        "revisions that one deployment may get; 0 is no limit; what a limit forbids is skipped",
}

// Reference lists every key with its type, its default and what it is for, in the order of the file.
func Reference() string {
	var b strings.Builder
	defaults := Default()
	each(reflect.ValueOf(defaults), "", func(key string, value reflect.Value) {
		indent := strings.Repeat("  ", strings.Count(key, "."))
		line := indent + key[strings.LastIndexByte(key, '.')+1:] + ":"
		if shown := shownDefault(value); shown != "" {
			line += " " + shown
		}
		fmt.Fprintf(&b, "%-32s # %s\n", line, keys[key])
	})
	return b.String()
}

// shownDefault is a default as the file would hold it, "" where there is none.
func shownDefault(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map:
		return ""
	}
	if d, is := v.Interface().(time.Duration); is {
		return d.String()
	}
	if v.Kind() == reflect.String && v.IsZero() {
		return `""`
	}
	return fmt.Sprint(v.Interface())
}

// each walks over the keys of a struct; those of a list are the keys of one of its items.
func each(v reflect.Value, group string, visit func(key string, value reflect.Value)) {
	for i := range v.NumField() {
		key, field := join(group, v.Type().Field(i).Tag.Get("yaml")), v.Field(i)
		visit(key, field)
		switch {
		case field.Kind() == reflect.Struct:
			each(field, key, visit)
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			each(reflect.Zero(field.Type().Elem()), key, visit)
		}
	}
}

// explain writes above each key of a file what it is for. Items of a list are explained once.
func explain(n *yaml.Node, group string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i], n.Content[i+1]
			key := join(group, name.Value)
			if text := keys[key]; text != "" {
				name.HeadComment = "# " + text
				explain(value, key)
			}
		}
	case yaml.SequenceNode:
		if len(n.Content) > 0 {
			explain(n.Content[0], group)
		}
	}
}
