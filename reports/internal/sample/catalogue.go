package sample

import (
	"strings"

	"github.com/agentconform/agentconform/reports"
)

type rule struct {
	id      string
	level   reports.Level
	title   string
	section string
	profile string
	feature string
	uri     string
	skip    string // why it is skipped; empty if it is judged
	cases   []string
}

const (
	cp = "control-plane"
	as = "agent-server"
)

var catalogue = []rule{
	{"CP-AUTH-1", reports.Must, "Without credentials every operation is refused with 401 or 403", "5", cp, "Credentials of the control plane", "control_plane/auth.feature", "", []string{"no credentials"}},
	{"CP-AUTH-4", reports.Must, "Each declared scheme for which a credential is configured opens every operation", "4, 5", cp, "Credentials of the control plane", "control_plane/auth.feature", "does not apply: the target has no bearer tokens", []string{"the bearer scheme"}},
	{"CP-AUTH-6", reports.Should, "One tenant's deployments do not exist for another tenant", "5", cp, "Credentials of the control plane", "control_plane/auth.feature", "no second tenant is configured (credentials.other_tenant)", []string{"another tenant"}},
	{"CP-CREATE-1", reports.Must, "Create answers 2xx with an id and a latest_revision_id, both uuids", "1", cp, "Creating a deployment", "control_plane/create.feature", "", []string{"a deployment is created"}},
	{"CP-CREATE-3", reports.Must, "The source and the fields of source_revision_config are those that were asked for", "2", cp, "Creating a deployment", "control_plane/create.feature", "", []string{"source git_host", "source external_container"}},
	{"CP-UPDATE-1", reports.Must, "PATCH with a non-null repo_ref creates exactly one revision, and latest_revision_id names it", "2, 4", cp, "Updating a deployment", "control_plane/update.feature", "", []string{"a new repo_ref"}},
	{"CP-UPDATE-3", reports.Must, "PATCH with a non-null image_uri creates exactly one revision", "2, 4", cp, "Updating a deployment", "control_plane/update.feature", "", []string{"a new image_uri"}},
	{"CP-UPDATE-10", reports.Must, "The new revision reaches DEPLOYED", "1, 3", cp, "Updating a deployment", "control_plane/update.feature", "", []string{"the update is rolled out"}},
	{"CP-LIST-1", reports.Must, "The list is an object with resources and offset", "2", cp, "Listing the revisions of a deployment", "control_plane/list.feature", "", []string{"the shape of the list"}},
	{"CP-LIST-3", reports.Must, "A limit outside 1 to 100 is refused, and the refusal names it", "7, 8", cp, "Listing the revisions of a deployment", "control_plane/list.feature", "", []string{"limit 0 is refused", "limit 101 is refused", "limit -1 is refused"}},
	{"CP-LIST-6", reports.Must, "Pages of any size, by offset, hold every revision exactly once", "4", cp, "Listing the revisions of a deployment", "control_plane/list.feature", "", []string{"pages hold every revision once"}},
	{"CP-LIST-13", reports.Must, "An unknown deployment answers 404, and the detail contains the id asked for", "4, 7", cp, "Listing the revisions of a deployment", "control_plane/list.feature", "", []string{"an unknown deployment"}},
	{"CP-LIST-15", reports.Should, "The order is stable between reads, newest first", "field", cp, "Listing the revisions of a deployment", "control_plane/list.feature", "", []string{"newest first"}},
	{"CP-CONTRACT-getRevision", reports.Must, "Every answer to getRevision keeps the contract", "2, 4", cp, "The contract of the control plane", "control_plane/contract.feature", "", []string{"getRevision"}},
	{"AS-THREAD-1", reports.Must, "A new thread has a thread_id, and two calls give two threads", "4", as, "Threads", "agent_server/threads.feature", "", []string{"two threads"}},
	{"AS-ROLLBACK-1", reports.Must, "A new run with rollback while one is running is accepted and completes with its own input", "3", as, "Rolling back a run", "agent_server/rollback.feature", "", []string{"while the first one is running"}},
	{"AS-ROLLBACK-5", reports.Must, "The same where the prior run was still pending", "3", as, "Rolling back a run", "agent_server/rollback.feature", "", []string{"while the first one is pending"}},
	{"AS-AUTHZ-5", reports.May, "A studio user, where the handler says so, is not filtered", "5.7", as, "Whose threads they are", "agent_server/authorization.feature", "not claimed by the target (studio_user)", []string{"a studio user"}},
}

func (c rule) requirement(n int) reports.Requirement {
	verdict := reports.Passed
	if c.skip != "" {
		verdict = reports.Skipped
	}
	q := reports.Requirement{
		ID: c.id, Level: c.level, Title: c.title, Section: c.section, Profile: c.profile, Feature: c.feature,
		Description: "A client relies on it. (interface, section " + c.section + ")", Verdict: verdict, Reason: c.skip,
	}
	if c.skip != "" {
		kind := reports.NotConfigured
		switch {
		case strings.HasPrefix(c.skip, reports.DoesNotApply):
			kind = reports.NotApplicable
		case strings.HasPrefix(c.skip, "not claimed"):
			kind = reports.NotClaimed
		}
		q.Skip = &reports.Skip{Kind: kind, Key: c.skip}
	}
	for i, name := range c.cases {
		q.Scenarios = append(q.Scenarios, reports.Scenario{
			Name: name, URI: "features/" + c.uri, Line: 10 + 20*n + i, Verdict: verdict, Reason: c.skip, Skip: q.Skip, DurationMS: int64(7 + 13*n%40),
			Steps: steps(verdict, name), Exchanges: evidenceOf(c.id, verdict),
		})
	}
	return q
}

func steps(v reports.Verdict, name string) []reports.Step {
	all := []reports.Step{
		{Keyword: "Given", Text: "a deployment that is up", Line: 31},
		{Keyword: "When", Text: "the client tries: " + name, Line: 32},
		{Keyword: "Then", Text: "the answer is as the rule says", Line: 33},
		{Keyword: "And", Text: "nothing else has changed", Line: 34},
	}
	if v == reports.Passed {
		for i := range all {
			all[i].Verdict = reports.Passed
		}
	}
	return all
}

func evidenceOf(id string, v reports.Verdict) []int {
	if v != reports.Passed {
		return nil
	}
	switch id {
	case "CP-CREATE-1", "CP-CREATE-3":
		return []int{1}
	case "CP-LIST-13":
		return []int{4}
	case "AS-THREAD-1":
		return []int{5}
	case "CP-CONTRACT-getRevision", "CP-UPDATE-10":
		return []int{2}
	}
	return []int{2, 3}
}
