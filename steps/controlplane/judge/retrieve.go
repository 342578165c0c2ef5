package judge

import (
	common "github.com/agentconform/agentconform/steps/common/judge"

	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// IsUnknown judges that a response has status 404 and a string detail (section 7).
func IsUnknown(a *exchange.Response) error {
	if a.Status != http.StatusNotFound {
		return outcome.Fails(a, outcome.Violation{
			Kind:     unrefused(a),
			Summary:  fmt.Sprintf("%s returns %d", unknownName(a.Request, ""), a.Status),
			Expected: "404", Check: outcome.Statuses("404"),
		})
	}
	return common.HasDetail(a)
}

// Created has the fields of a deployment in the response to its creation. Unknown fields are empty.
type Created struct {
	ID       string
	Revision string // id of the first revision
	Source   string
}

// IsTheCreated judges that a response shows a deployment with the fields from its creation (section 2).
func IsTheCreated(a *exchange.Response, c Created) error {
	if err := IsServed(a); err != nil {
		return err
	}
	if err := HasID(a, "id", c.ID); err != nil {
		return err
	}
	if c.Revision != "" {
		if err := HasID(a, "latest_revision_id", c.Revision); err != nil {
			return err
		}
	}
	if c.Source == "" || strings.EqualFold(a.Get("source").String(), c.Source) {
		return nil
	}
	return showsOther(a, "source", fmt.Sprintf("source %q", c.Source), nil)
}

// HaveIDs judges that each request is served and the response shows the object with the id of the request.
func HaveIDs(responses []*exchange.Response, ids []string) error {
	for i, a := range responses {
		if err := IsServed(a); err != nil {
			return err
		}
		if err := HasID(a, "id", ids[i]); err != nil {
			return err
		}
	}
	return nil
}

// HasSource judges that a response shows the given source (section 2).
func HasSource(a *exchange.Response, source string) error {
	if err := IsServed(a); err != nil {
		return err
	}
	if a.Get("source").String() == source {
		return nil
	}
	return showsOther(a, "source", fmt.Sprintf("source %q", source), nil)
}

// SourceFields are the fields of a source that a request may set (section 2), as GJSON paths.
var SourceFields = []string{"source_revision_config.repo_ref", "source_revision_config.graph_config_path",
	"source_revision_config.image_uri"}

// commitField is the commit that was built.
const commitField = "source_revision_config.repo_commit_sha"

// HasConfig judges that a response shows every value that a request has set in source_revision_config. The server chooses
// the values of other fields.
func HasConfig(a *exchange.Response, sent map[string]any) error {
	if err := IsServed(a); err != nil {
		return err
	}
	compared := 0
	for _, path := range SourceFields {
		value, isSent := sent[nameAt(path)].(string)
		if !isSent {
			continue
		}
		compared++
		if a.Get(path).String() != value {
			return showsOther(a, path, fmt.Sprintf("%s %q", nameAt(path), value),
				&reports.Check{Statuses: []string{"2XX"}, Requires: []string{value}})
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("the request sets neither repo_ref, graph_config_path nor image_uri: set them in " +
			"create.body.source_revision_config")
	}
	return nil
}

// ConfigFollowsLatest judges each response that names the new revision as the latest one: it must have the configuration
// of the update, and not that of an earlier revision (section 2).
func ConfigFollowsLatest(responses []*exchange.Response, latest string, update map[string]any) error {
	named := 0
	for _, a := range responses {
		if !exchange.SameID(a.Get("latest_revision_id").String(), latest) {
			continue
		}
		named++
		if err := HasConfig(a, update); err != nil {
			return err
		}
	}
	if named == 0 {
		return outcome.Inconclusive("latest_revision_id never names the new revision")
	}
	return nil
}

// ConfigUnchanged judges that the first revision has the configuration from before an update. A response that shows
// another object blocks.
func ConfigUnchanged(now, before *exchange.Response) error {
	if !exchange.SameID(before.Get("id").String(), now.Get("id").String()) {
		return outcome.Blocked("the first revision cannot be retrieved: %s", outcome.Seen(now))
	}
	return FieldsKept(now, before, append(slices.Clone(SourceFields), commitField))
}

// HoldsOnly judges that a list contains the given revision and no others.
func HoldsOnly(list *exchange.Response, ids []string, revision string) error {
	if list.OK() && exchange.SameIDs(ids, []string{revision}) {
		return nil
	}
	v := outcome.Violation{Expected: "only revision " + safe.ShortIDs(revision), Pointer: "/resources"}
	all := Listed{Response: list, IDs: ids, Want: []string{revision}}
	switch {
	case !list.OK():
		v.Kind = unserved(list)
		v.Summary = returns(list)
	case exchange.ContainsID(ids, revision):
		v.Kind = outcome.ExtraItem
		v.Summary = "The list of revisions has " + reports.Count(len(ids)-1, "revision") + " too many"
		v.Actual = all.differences()
	default:
		v.Kind = outcome.MissingItem
		v.Summary = "The list of revisions lacks the only revision"
		v.Actual = all.differences()
	}
	return outcome.Fails(list, v)
}

// IsComplete judges that a revision has all required fields and that none of them is null (section 2).
func IsComplete(a *exchange.Response) error {
	required := []string{"id", "created_at", "updated_at", "status", "source", "source_revision_config"}
	for _, field := range required {
		if a.Get(field).Type == gjson.Null { // also if it is absent
			return fieldFails(a, field, outcome.Violation{
				Kind:     outcome.Missing,
				Summary:  "The revision has no " + field,
				Expected: field + " with a value",
			})
		}
	}
	return nil
}

// Reread is a revision at two times.
type Reread struct {
	First *exchange.Response // the earliest response, or nil if the revision was never polled
	Now   *exchange.Response
}

// CreatedAtUnchanged judges that each revision still has the created_at of the first response that showed it. It
// blocks if a revision cannot be retrieved.
func CreatedAtUnchanged(revisions []Reread) error {
	count := 0
	for _, r := range revisions {
		if !r.Now.OK() {
			return outcome.Blocked("the revision cannot be retrieved: %s", outcome.Seen(r.Now))
		}
		if r.First == nil {
			continue // another requirement judges a revision with a different id
		}
		count++
		was, is := r.First.Get("created_at"), r.Now.Get("created_at")
		same, comparable := sameInstant(was, is)
		if !comparable {
			return outcome.Inconclusive("created_at of the revision is not comparable: at first it was %s, and later %s, and a "+
				"comparison needs two times with an offset", outcome.Shown(was), outcome.Shown(is))
		}
		if !same {
			return fieldFails(r.Now, "created_at", outcome.Violation{
				Kind:     outcome.Changed,
				Summary:  "The created_at of a revision changes",
				Expected: outcome.Shown(was) + ", as when the status was " + outcome.Shown(r.First.Get("status")),
				Compared: compared(r.Now, r.First),
			})
		}
	}
	if count == 0 {
		return outcome.Inconclusive("no polled revision can be retrieved under its id")
	}
	return nil
}

// UpdatedAfterCreated judges that updated_at is not before created_at.
func UpdatedAfterCreated(responses []*exchange.Response) error {
	for _, a := range responses {
		_, isCreated := Instant(a.Get("created_at"))
		_, isUpdated := Instant(a.Get("updated_at"))
		if !isCreated || !isUpdated {
			return outcome.Inconclusive("updated_at cannot be compared with created_at: created_at is %s, updated_at is %s, and "+
				"both must be date-times", outcome.Shown(a.Get("created_at")), outcome.Shown(a.Get("updated_at")))
		}
		if IsBefore(a.Get("updated_at"), a.Get("created_at")) {
			return fieldFails(a, "updated_at", outcome.Violation{
				Kind:     outcome.WrongValue,
				Summary:  "The updated_at of a revision is before its created_at",
				Expected: outcome.Shown(a.Get("created_at")) + ", which is created_at, or later",
			})
		}
	}
	return nil
}

// HasCommit judges that a DEPLOYED revision shows the commit id that is configured for its ref. Until a revision is DEPLOYED,
// its commit id need not be known.
func HasCommit(a *exchange.Response, commit string) error {
	if err := IsServed(a); err != nil {
		return err
	}
	got := a.Get(commitField)
	if strings.EqualFold(got.String(), commit) {
		return nil
	}
	if status := a.Get("status").String(); isKnown(status) && status != "DEPLOYED" && status != "UNKNOWN" {
		return outcome.Inconclusive("the revision is %s, and not DEPLOYED", status)
	}
	v := outcome.Violation{
		Kind:     outcome.WrongValue,
		Summary:  showing("The revision", "repo_commit_sha", got, fmt.Sprintf("%q", commit)),
		Expected: fmt.Sprintf("repo_commit_sha %q", commit),
		Hint:     "set alternatives.commits to the commit id that the ref points to now: a branch may have moved",
	}
	if !got.Exists() {
		v.Kind = outcome.Missing
		v.Summary = "The revision has no repo_commit_sha"
	}
	return fieldFails(a, commitField, v)
}

// FieldsKept judges that fields, given as GJSON paths, have the same values as before an update. A field without a value
// may get one when the revision is built.
func FieldsKept(now, before *exchange.Response, paths []string) error {
	compares := 0
	for _, path := range paths {
		was, is := before.Get(path), now.Get(path)
		if was.String() == "" {
			continue
		}
		compares++
		if was.Type != is.Type || was.String() != is.String() {
			return fieldFails(now, path, outcome.Violation{
				Kind:     outcome.Changed,
				Summary:  "An update changes the " + nameAt(path) + " of " + strings.ToLower(objectOf(now.Request)),
				Expected: outcome.Shown(was) + ", as before the update",
				Compared: compared(now, before),
			})
		}
	}
	if compares == 0 {
		return outcome.Inconclusive("the update names all fields that had a value before: %s", outcome.Seen(before))
	}
	return nil
}
