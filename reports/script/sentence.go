package script

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// sentences has what a request does, by the operation of the contract. RUN is the name of the run, or "the run".
var sentences = map[string]string{
	"create-deployment": "Create a deployment",
	"list-deployments":  "List the deployments",
	"get-deployment":    "Read the deployment",
	"update-deployment": "Update the deployment",
	"delete-deployment": "Delete the deployment",
	"list-revisions":    "List the revisions",
	"get-revision":      "Read the revision",
	"create-thread":     "Create a thread",
	"list-threads":      "List the threads",
	"search-threads":    "Search the threads",
	"get-thread":        "Read the thread",
	"delete-thread":     "Delete the thread",
	"get-state":         "Read the state of the thread",
	"create-run":        "Start RUN",
	"get-run":           "Read RUN",
	"join-run":          "Wait for RUN",
}

// sentence describes a step: "Start run B with multitask_strategy rollback".
func (s *script) sentence(each *step) string {
	text := sentences[each.Operation]
	if text == "" {
		return each.Method + " " + s.result.Target.PathOf(each.URL) + s.caller(each)
	}
	polled := each.times > 1 && each.ID != s.shown && settled.MatchString(each.Response.Body)
	if each.Operation == "get-revision" && polled {
		text = "Wait until the build of the revision has ended"
	}
	run := "the run"
	for _, p := range pairs(each.Response.Body) {
		if each.Operation == "create-run" && p.key == "run_id" && s.names[p.value] != "" {
			run = s.names[p.value]
		}
	}
	for _, v := range each.uses {
		if v.key == "run_id" && each.Operation != "create-run" {
			run = v.name
		}
	}
	text = strings.ReplaceAll(text, "RUN", strings.ReplaceAll(run, "_", " "))
	address, err := url.Parse(each.URL)
	strategy := gjson.Get(each.Request.Body, "multitask_strategy").String()
	switch {
	case strategy != "":
		text += " with multitask_strategy " + strategy
	case err == nil && address.RawQuery != "":
		text += " with " + address.RawQuery
	}
	if s.isByOther(each) {
		text += " (by another scenario)"
	}
	return text + s.caller(each)
}

// caller describes the credentials of a request, " as user 2", unless all requests have the same.
func (s *script) caller(each *step) string {
	name := s.callerOf(each)
	differs := func(x *step) bool { return s.callerOf(x) != name }
	if !slices.ContainsFunc(s.steps, differs) {
		return ""
	}
	return name
}

// callerOf describes the credentials of a request if they are not those that most requests have.
func (s *script) callerOf(each *step) string {
	if strings.Contains(each.Curl, "AGENTCONFORM_USERS_1_") {
		return " as user 2"
	}
	if strings.Contains(each.Curl, "AGENTCONFORM_OTHER_TENANT_") {
		return " as the other tenant"
	}
	isSecret := func(x *step) bool { return len(x.Request.Secrets) > 0 }
	if !isSecret(each) && slices.ContainsFunc(s.steps, isSecret) {
		return " without credentials"
	}
	return ""
}
