package explore

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// past is one history of a deployment that explains the responses so far: its revisions, the oldest first.
type past []revision

// revision is a revision that was created with its deployment or by an update.
type revision struct {
	id     string            // "" until a response has shown it
	source map[string]string // the known values of fields
	owner  string            // the requirement that the creation or update creates it
}

// planeSeen has the results of an operation of the control plane.
type planeSeen struct {
	made  *plane.Deployment
	id    string               // of the requested revision
	lists []*exchange.Response // one list; or a list with a filter or page, between two complete lists
}

// requirementOfUpdate returns the requirement about updates with these fields. If there are no fields, it returns
// otherwise.
func requirementOfUpdate(source map[string]string, otherwise string) string {
	for _, field := range slices.Sorted(maps.Keys(source)) { // the last field decides, which is repo_ref if present
		otherwise = plane.UpdateOf[field]
	}
	return otherwise
}

// after returns the histories that may follow w after an operation with this response, or else the violation. It does not
// judge the status of revisions.
func (s *planeSession) after(w past, d done) ([]past, *Wrong) {
	owner := s.deployments[d.Object].owner
	switch {
	case d.Caller != theClient:
		return []past{w}, wantRefusal(refuses[d.Caller], d.response, " for "+callers[d.Caller])
	case d.Verb == settle:
		return []past{w}, nil
	case d.Verb == update:
		return s.updated(w, d)
	case !d.response.OK():
		return nil, want(false, successOf[d.Verb], d.response, "2xx")
	case d.Verb == getDeployment:
		return w.showsLatest(owner, d.response)
	case d.Verb == listRevisions && len(d.lists) > 1:
		return []past{w}, s.showsPage(d)
	case d.Verb == listRevisions:
		return w.showsAll(owner, d.response)
	}
	at := w.find(d.id)
	if at < 0 || !exchange.SameID(d.response.Get("id").String(), d.id) {
		return nil, want(false, "CP-REV-1", d.response, "2xx, with revision "+d.id)
	}
	return []past{w}, w.shows(at, d.response, d.response.Get("@this"), "")
}

// successOf has the requirement that a read succeeds.
var successOf = map[string]string{getDeployment: "CP-GET-1", getRevision: "CP-REV-1", listRevisions: "CP-LIST-2"}

// refuses has the requirement that a caller is refused.
var refuses = map[int]string{nobody: "CP-AUTH-1", unknown: "CP-AUTH-2", otherTenant: "CP-AUTH-6"}

// createsNone has the requirement that an update by another caller creates no revision.
var createsNone = map[int]string{nobody: "CP-AUTH-3", unknown: "CP-AUTH-3", otherTenant: "CP-AUTH-6"}

// updated judges the response to an update. An update may be refused if others are sent at the same time, or if its
// source cannot be built.
func (s *planeSession) updated(w past, d done) ([]past, *Wrong) {
	_, source := s.change(d.With)
	switch {
	case !d.response.OK() && !d.isConcurrent() && !strings.Contains(d.With, "broken") && !strings.Contains(d.With, "digest"):
		return nil, want(false, requirementOfUpdate(source, "CP-UPDATE-13"), d.response, "2xx to the update")
	case !d.response.OK() || len(source) == 0:
		return []past{w}, nil
	}
	all := maps.Clone(w[len(w)-1].source)
	maps.Copy(all, source)
	return []past{append(slices.Clone(w), revision{source: all, owner: requirementOfUpdate(source, "")})}, nil
}

// showsLatest compares GET of a deployment with its latest revision.
func (w past) showsLatest(owner string, a *exchange.Response) ([]past, *Wrong) {
	at, named := len(w)-1, a.Get("latest_revision_id").String()
	if w[at].id == "" && w.find(named) < 0 {
		w = w.naming(at, named)
	}
	if earlier := w.find(named); earlier != at {
		switch {
		case w[at].id == "":
			owner = w[at].owner
		case earlier >= 0: // the read names an earlier revision again, which no write can cause
			owner = successOf[getDeployment]
		}
		expected := fmt.Sprintf("the id of revision %d, %s", at+1, cmp.Or(w[at].id, "which is new"))
		return nil, wrong(owner, outcome.Fails(a, outcome.Violation{Kind: outcome.WrongValue, Pointer: "/latest_revision_id",
			Summary: "The deployment shows the wrong latest_revision_id", Expected: expected, Actual: named}))
	}
	return []past{w}, w.shows(at, a, a.Get("@this"), "")
}

// shows compares the source of a revision with the values that were sent for it or for earlier revisions.
func (w past) shows(at int, a *exchange.Response, object gjson.Result, pointer string) *Wrong {
	source := w[at].source
	for _, field := range slices.Sorted(maps.Keys(source)) {
		got := object.Get("source_revision_config." + field)
		if got.Type == gjson.String && invariants.SameValue(field, source[field], got.Str) {
			continue
		}
		return wrong(w.ownerOf(at, field, got.String()), outcome.Fails(a, outcome.Violation{Kind: outcome.WrongValue,
			Pointer:  pointer + "/source_revision_config/" + field,
			Summary:  fmt.Sprintf("%s shows %s %s instead of %s", shownBy(a), field, short(outcome.Shown(got)), short(strconv.Quote(source[field]))),
			Expected: fmt.Sprintf("%s %q", field, source[field]), Actual: outcome.Shown(got)}))
	}
	return nil
}

// shownBy names what a response shows, as the subject of a title.
func shownBy(a *exchange.Response) string {
	switch {
	case strings.HasSuffix(a.Request.Path, "/revisions"):
		return "The list"
	case strings.Contains(a.Request.Path, "/revisions/"):
		return "The revision"
	}
	return "The deployment"
}

// short returns the beginning of a value for a title.
func short(value string) string { return safe.Ellipsis(value, 14) }

// ownerOf returns the requirement that is violated by a wrong value of a field in a revision's source. If a revision
// lacks a value of the previous revision, it did not inherit it. Only a wrong value of the latest revision can show that
// a later update changed it.
func (w past) ownerOf(at int, field, got string) string {
	last := len(w) - 1
	isInherited := at > 0 && w[at-1].source[field] == w[at].source[field]
	switch {
	case last == 0:
		return "CP-CREATE-3"
	case at < last && (!isInherited || invariants.SameValue(field, w[last].source[field], got)):
		return "CP-REV-5"
	case isInherited:
		return "CP-UPDATE-12"
	}
	return "CP-UPDATE-9"
}

// find returns the index of the revision with the id, or -1.
func (w past) find(id string) int {
	return slices.IndexFunc(w, func(r revision) bool { return id != "" && exchange.SameID(r.id, id) })
}

func (w past) naming(at int, id string) past {
	named := slices.Clone(w)
	named[at].id = id
	return named
}

// showsAll compares the complete list with all revisions. A revision without an id gets the id of a new row with its
// source.
func (w past) showsAll(owner string, a *exchange.Response) ([]past, *Wrong) {
	rows := a.Get("resources").Array()
	var fresh []gjson.Result
	for _, row := range rows {
		if w.find(row.Get("id").String()) < 0 {
			fresh = append(fresh, row)
		}
	}
	for at := len(w) - 1; at >= 0; at-- { // the latest first, because most values of its source are known
		if w[at].id == "" && len(fresh) > 0 {
			own := max(slices.IndexFunc(fresh, func(row gjson.Result) bool { return w.shows(at, a, row, "") == nil }), 0)
			w = w.naming(at, fresh[own].Get("id").String())
			fresh = slices.Delete(fresh, own, own+1)
		}
		listed := slices.Index(exchange.IDKeys(plane.ListOf(a).IDs()), exchange.IDKey(w[at].id))
		if listed < 0 || len(rows) != len(w) {
			expected := reports.Count(len(w), "revision")
			kind := outcome.MissingItem
			missing := slices.IndexFunc(w, func(r revision) bool { return r.id == "" })
			switch {
			case len(rows) > len(w):
				kind = outcome.ExtraItem
			case missing >= 0: // an earlier update may not have created it
				owner = w[missing].owner
			}
			return nil, wrong(owner, outcome.Fails(a, outcome.Violation{Kind: kind, Pointer: "/resources",
				Summary: "The list does not have exactly the revisions of the deployment", Expected: expected, Actual: reports.Count(len(rows), "revision")}))
		}
		problem := w.shows(at, a, rows[listed], "/resources/*")
		if problem != nil {
			return nil, problem
		}
	}
	return []past{w}, nil
}

// parameters returns the query parameters of a list.
func parameters(with string) url.Values {
	all := url.Values{}
	for part := range strings.SplitSeq(with, " and ") {
		name, value, _ := strings.Cut(part, " ")
		all.Set(name, value)
	}
	return all
}

// showsPage compares a list with a filter or page with the complete list. It judges nothing if other operations were sent
// at the same time, if the complete lists before and after it differ, or if the status of a revision may change.
func (s *planeSession) showsPage(d done) *Wrong {
	asked := parameters(d.With)
	before := d.lists[0].Get("resources").Array()
	after := d.lists[2].Get("resources").Array()
	var want []string
	for i, row := range before {
		status := row.Get("status").Str
		final := plane.IsSettled(status) || status == "UNKNOWN"
		if d.isConcurrent() || len(after) != len(before) || !exchange.SameID(row.Get("id").Str, after[i].Get("id").Str) ||
			status != after[i].Get("status").Str || asked.Has("status") && !final {
			return nil
		}
		if !asked.Has("status") || slices.Contains(strings.Split(asked.Get("status"), ","), status) {
			want = append(want, row.Get("id").Str)
		}
	}
	limit, offset := 20, 0
	_, _ = fmt.Sscan(asked.Get("limit"), &limit)
	_, _ = fmt.Sscan(asked.Get("offset"), &offset)
	want = want[min(offset, len(want)):]
	want = want[:min(limit, len(want))]
	got := plane.ListOf(d.response).IDs()
	if exchange.SameIDs(want, got) {
		return nil
	}
	id := "CP-LIST-18"
	if len(asked) == 1 && asked.Has("status") {
		id = "CP-LIST-9"
	}
	expected := fmt.Sprintf("%s, of %d in total: %s", reports.Count(len(want), "revision"), len(before), safe.ShortIDs(strings.Join(want, ", ")))
	kind := outcome.ExtraItem
	if len(got) < len(want) {
		kind = outcome.MissingItem
	}
	return wrong(id, outcome.Fails(d.response, outcome.Violation{Kind: kind, Pointer: "/resources",
		Summary: "A page or a filtered list has the wrong revisions", Expected: expected, Actual: reports.Count(len(got), "revision") + ": " + safe.ShortIDs(strings.Join(got, ", "))}).
		Comparing(d.response, d.lists[0]))
}
