package explore

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// past is one history of a deployment that explains the answers so far: its revisions, the oldest first.
type past []revision

// revision is what a creation or an update has made.
type revision struct {
	id     string            // "" until it was seen
	source map[string]string // the fields whose values are known
}

// planeSeen is what was seen of an operation of the control plane.
type planeSeen struct {
	made  *plane.Deployment
	id    string               // of the revision that was asked for
	lists []*exchange.Response // one with a filter or page stands between two that are whole
}

// creates names the requirement that an update with these fields creates a revision, or another where there is none.
func creates(source map[string]string, otherwise string) string {
	for _, field := range slices.Sorted(maps.Keys(source)) { // repo_ref where it is one of two
		otherwise = plane.UpdateOf[field]
	}
	return otherwise
}

// after returns the histories that may follow one in which the operation was answered so, or what is wrong. Which
// status a revision has is not judged.
func (s *planeSession) after(w past, d done) ([]past, *Wrong) {
	owner := s.deployments[d.Object].owner
	switch {
	case d.Verb == settle:
		return []past{w}, nil
	case d.Verb == update:
		return s.updated(w, d)
	case !d.answer.OK():
		id := map[string]string{getDeployment: "CP-GET-1", getRevision: "CP-REV-1", listRevisions: "CP-LIST-2"}[d.Verb]
		return nil, want(false, id, d.answer, "status 2xx")
	case d.Verb == getDeployment:
		return w.showsLatest(owner, d.answer)
	case d.Verb == listRevisions && len(d.lists) > 1:
		return []past{w}, s.showsPage(d)
	case d.Verb == listRevisions:
		return w.showsAll(owner, d.answer)
	}
	at := w.find(d.id)
	if at < 0 || !strings.EqualFold(d.answer.Get("id").String(), d.id) {
		return nil, want(false, "CP-REV-1", d.answer, "the revision "+d.id)
	}
	return []past{w}, w.shows(at, d.answer, d.answer.Get("@this"), "")
}

// updated holds the answer to an update: one beside others, or to a source that cannot be built, may be refused.
func (s *planeSession) updated(w past, d done) ([]past, *Wrong) {
	_, source := s.change(d.With)
	switch {
	case !d.answer.OK() && !d.beside() && !strings.Contains(d.With, "broken"):
		return nil, want(false, creates(source, "CP-UPDATE-13"), d.answer, "status 2xx to the update")
	case !d.answer.OK() || len(source) == 0:
		return []past{w}, nil
	}
	all := maps.Clone(w[len(w)-1].source)
	maps.Copy(all, source)
	return []past{append(slices.Clone(w), revision{source: all})}, nil
}

// showsLatest holds GET of a deployment to its latest revision.
func (w past) showsLatest(owner string, a *exchange.Response) ([]past, *Wrong) {
	at, named := len(w)-1, a.Get("latest_revision_id").String()
	if w[at].id == "" && w.find(named) < 0 {
		w = w.naming(at, named)
	}
	if w.find(named) != at {
		expected := fmt.Sprintf("the latest_revision_id of revision %d", at+1)
		return nil, wrong(owner, outcome.Violated(a, expected, "%s", named).At("/latest_revision_id"))
	}
	return []past{w}, w.shows(at, a, a.Get("@this"), "")
}

// shows holds the source of a revision to what was sent for it, and for those before it where that named no value.
func (w past) shows(at int, a *exchange.Response, object gjson.Result, pointer string) *Wrong {
	source := w[at].source
	for _, field := range slices.Sorted(maps.Keys(source)) {
		got := object.Get("source_revision_config." + field)
		if got.Type == gjson.String && invariants.SameValue(field, source[field], got.Str) {
			continue
		}
		id := "CP-UPDATE-9"
		switch {
		case len(w) == 1:
			id = "CP-CREATE-3"
		case at < len(w)-1:
			id = "CP-REV-5"
		case w[at-1].source[field] == source[field]:
			id = "CP-UPDATE-12"
		}
		return wrong(id, outcome.Violated(a, fmt.Sprintf("%s %q", field, source[field]), "%s", outcome.Shown(got)).
			At(pointer+"/source_revision_config/"+field))
	}
	return nil
}

// find returns the place of a revision; -1 where none was seen with the id.
func (w past) find(id string) int {
	return slices.IndexFunc(w, func(r revision) bool { return id != "" && strings.EqualFold(r.id, id) })
}

func (w past) naming(at int, id string) past {
	named := slices.Clone(w)
	named[at].id = id
	return named
}

// showsAll holds the whole list to all revisions. One that was not seen yet takes a new row that shows its source.
func (w past) showsAll(owner string, a *exchange.Response) ([]past, *Wrong) {
	rows := a.Get("resources").Array()
	isKnown := func(row gjson.Result) bool { return w.find(row.Get("id").String()) >= 0 }
	fresh := slices.DeleteFunc(slices.Clone(rows), isKnown)
	for at := len(w) - 1; at >= 0; at-- { // the latest first: of its source the most is known
		if w[at].id == "" && len(fresh) > 0 {
			own := max(slices.IndexFunc(fresh, func(row gjson.Result) bool { return w.shows(at, a, row, "") == nil }), 0)
			w = w.naming(at, fresh[own].Get("id").String())
			fresh = slices.Delete(fresh, own, own+1)
		}
		listed := slices.Index(plane.ListOf(a).IDs(), w[at].id)
		if listed < 0 || len(rows) != len(w) {
			expected := fmt.Sprintf("the %d revisions of the deployment", len(w))
			return nil, wrong(owner, outcome.Violated(a, expected, "%d", len(rows)).At("/resources"))
		}
		if problem := w.shows(at, a, rows[listed], "/resources/*"); problem != nil {
			return nil, problem
		}
	}
	return []past{w}, nil
}

// parameters are those of a list.
func parameters(with string) url.Values {
	all := url.Values{}
	for part := range strings.SplitSeq(with, " and ") {
		name, value, _ := strings.Cut(part, " ")
		all.Set(name, value)
	}
	return all
}

// showsPage holds a list with a filter or page to the whole list, where nothing was sent beside it, that is the same
// before and after it, and no revision is about to have another status.
func (s *planeSession) showsPage(d done) *Wrong {
	asked := parameters(d.With)
	before := d.lists[0].Get("resources").Array()
	after := d.lists[2].Get("resources").Array()
	var want []string
	for i, row := range before {
		status := row.Get("status").Str
		final := plane.IsSettled(status) || status == "UNKNOWN"
		if d.beside() || len(after) != len(before) || row.Get("id").Str != after[i].Get("id").Str ||
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
	got := plane.ListOf(d.answer).IDs()
	if plane.SameIDs(want, got) {
		return nil
	}
	id := "CP-LIST-18"
	if len(asked) == 1 && asked.Has("status") {
		id = "CP-LIST-9"
	}
	expected := fmt.Sprintf("%d of the %d revisions", len(want), len(before))
	return wrong(id, outcome.Violated(d.answer, expected, "%d", len(got)).
		At("/resources").Comparing(d.answer, d.lists[0]))
}
