package invariants

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// deployments judges that no response shows values that a deployment never had (section 2). Within patience after a
// write, a read may show the deployment before or after that write, but no other state. Other rules judge
// source_revision_config.
type deployments struct {
	patience time.Duration
	named    map[string]string    // the deployment whose creation named a revision, by revision
	lists    map[string][]listing // lists of all revisions, by deployment
	sources  map[string]string    // the source that was shown first, by deployment
	updated  map[string]time.Time // when the first PATCH was sent, by deployment
}

// listing is a list of all revisions of a deployment.
type listing struct {
	sent      time.Time
	by        exchange.Caller
	revisions []string
}

func newDeployments(patience time.Duration) *deployments {
	return &deployments{patience: patience, named: map[string]string{}, lists: map[string][]listing{},
		sources: map[string]string{}, updated: map[string]time.Time{}}
}

func (d *deployments) note(s *seen) {
	id := exchange.IDKey(s.In("deployment_id"))
	if s.Op.ID == "update-deployment" {
		keepEarliest(d.updated, id, s.Sent)
	}
	if !s.shows() {
		return
	}
	switch s.Op.ID {
	case "create-deployment":
		id = exchange.IDKey(s.response.Get("id").Str)
		d.named[exchange.IDKey(s.response.Get("latest_revision_id").Str)] = id
		d.noteSource(id, s.response)
	case "get-deployment", "get-revision":
		d.noteSource(id, s.response)
	case "list-revisions":
		rows := s.response.Get("resources").Array()
		limit, isFirst := firstPage(s.Query)
		all := listing{sent: s.Sent, by: s.Caller}
		for _, row := range rows {
			all.revisions = append(all.revisions, exchange.IDKey(row.Get("id").Str))
		}
		if s.Whole && isFirst && len(rows) < limit {
			d.lists[id] = append(d.lists[id], all)
		}
	}
}

// noteSource keeps the first source that was shown.
func (d *deployments) noteSource(deployment string, shown gjson.Result) {
	if source := shown.Get("source").Str; d.sources[deployment] == "" {
		d.sources[deployment] = source
	}
}

// checkLatest judges the latest revision that a deployment names. It must not belong to another deployment. If a later
// list has all revisions of the deployment, at least one list must contain it.
func (d *deployments) checkLatest(t *tally, s *seen) {
	if s.Op.ID != "get-deployment" || !s.shows() || s.Wrong {
		return
	}
	id, latest := exchange.IDKey(s.In("deployment_id")), exchange.IDKey(s.response.Get("latest_revision_id").Str)
	t.judged++
	owner := d.named[latest]
	isLater := func(l listing) bool {
		return l.by == s.Caller && l.sent.After(s.Ended.Add(d.patience)) && len(l.revisions) > 0
	}
	isListed := slices.ContainsFunc(d.lists[id], func(l listing) bool { return slices.Contains(l.revisions, latest) })
	switch {
	case latest == "" || owner == id:
	case owner != "":
		t.violated(s, outcome.WrongValue, "/latest_revision_id", "A deployment names a revision of another deployment as its latest",
			"a revision of deployment "+safe.ShortIDs(id),
			fmt.Sprintf("%s, the first revision of deployment %s", safe.ShortIDs(latest), safe.ShortIDs(owner)))
	case !isListed && slices.ContainsFunc(d.lists[id], isLater):
		t.violated(s, outcome.WrongValue, "/latest_revision_id", "A deployment names a latest revision that its lists do not contain",
			"a revision that later lists of the deployment contain", safe.ShortIDs(latest))
	}
}

// checkOnlyRevision judges that the list of a deployment contains only the revision that its creation named, until the
// first PATCH. Another requirement judges lists with revisions of other deployments.
func (d *deployments) checkOnlyRevision(t *tally, s *seen) {
	id := exchange.IDKey(s.In("deployment_id"))
	updated := d.updated[id]
	if s.Op.ID != "list-revisions" || !s.shows() || !updated.IsZero() && !s.Ended.Before(updated) {
		return
	}
	var first, other string
	for _, row := range s.response.Get("resources").Array() {
		revision := exchange.IDKey(row.Get("id").Str)
		switch d.named[revision] {
		case id:
			first = revision
		case "":
			other = revision
		}
	}
	if first == "" {
		return
	}
	t.judged++
	if other != "" {
		t.violated(s, outcome.ExtraItem, "/resources", "A deployment has a second revision before its first update",
			safe.ShortIDs(first)+", which the response to the creation names, and no other", safe.ShortIDs(other)+", too")
	}
}

// checkSource judges that all GETs of a deployment and its revisions show the same source. Other rules compare the lists
// with GET.
func (d *deployments) checkSource(t *tally, s *seen) {
	source := s.response.Get("source").Str
	if s.Op.ID != "get-deployment" && s.Op.ID != "get-revision" || !s.shows() || s.Wrong || source == "" {
		return
	}
	t.judged++
	if first := d.sources[exchange.IDKey(s.In("deployment_id"))]; source != first {
		t.violated(s, outcome.Changed, "/source",
			fmt.Sprintf("The source changes from %q to %q", safe.Ellipsis(first, maxInTitle), safe.Ellipsis(source, maxInTitle)),
			fmt.Sprintf("%q, as before", first), fmt.Sprintf("%q", source))
	}
}
