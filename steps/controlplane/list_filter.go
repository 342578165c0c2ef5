package controlplane

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// defineFilters registers the sentences about filters of lists (section 4).
func (w *World) defineFilters(r *common.Definitions) {
	r.Given(`a deployment whose revisions have settled in different statuses`, w.aMixedHistory)
	r.Given(`a status filter that matches all of them`, w.aFilterThatKeepsAll)
	r.When(`the client filters its revisions by each (status that occurs|known status that does not occur)`,
		w.clientFiltersByEach)
	r.When(`the client filters its revisions by (pairs of statuses|three statuses, and by one that is named twice)`,
		w.clientFiltersBySeveral)
	r.When(`the client lists its revisions with each value of remote_reconciled, alone and beside each status that occurs`,
		w.clientListsWithBoth)
	r.When(`the client lists all its revisions with remote_reconciled true, with false, and with true again`,
		func(ctx context.Context) {
			for _, value := range []string{"true", "false", "true"} {
				w.whole = append(w.whole, w.reconciled(ctx, value, ""))
			}
		})
	r.Then(`each list holds exactly the revisions with that status`, w.eachHoldsItsOwn)
	r.Then(`each list is the union of the lists of its statuses`, w.eachHoldsItsOwn)
	r.Then(`the pages hold exactly the filtered revisions`, w.eachHoldsItsOwn)
	r.Then(`each list holds the revisions that both filters keep`, w.eachHoldsItsOwn)
	r.Then(`no revision is in the list with false and in both lists with true`, w.shareNone)
	r.Then(`the list is empty, or the request is refused with 4xx`, func() error {
		a, rows := w.scene.Answer, w.scene.Answer.Get("resources")
		isEmpty := a.OK() && rows.Exists() && len(rows.Array()) == 0
		return outcome.Want(a.IsRefused() || isEmpty, a, "an empty list, or status 4xx")
	})
}

// statusFilter is the query of a filter by statuses with commas between them, none where there is none.
func statusFilter(statuses string) string {
	if statuses == "" {
		return ""
	}
	return "status=" + url.QueryEscape(statuses)
}

// byStatus are the ids of the deployment's revisions by the status that each has alone.
type byStatus struct {
	ids       map[string][]string // by the status of the interface that is meant
	occurring []string            // known statuses
	others    []string            // the other known statuses
	strange   string              // a status that is not one of the interface as it is written, or ""
}

// statuses is what one look for all scenarios has found.
func (w *World) statuses(ctx context.Context) *byStatus {
	return w.statusesIn(common.Must(w.plane.LookAtEach(ctx, w.Deployment)))
}

func (w *World) statusesIn(answers []*exchange.Response) *byStatus {
	found := &byStatus{ids: map[string][]string{}}
	for i, a := range answers {
		revision, written := w.Deployment.Revisions[i], a.Get("status").String()
		if !a.OK() || a.Get("id").String() != revision {
			common.Check(outcome.Blocked("revision %s cannot be retrieved: %s", revision, outcome.Seen(a)))
		}
		status := plane.Meant(written)
		if !plane.IsKnown(written) {
			found.strange = written
		}
		found.ids[status] = append(found.ids[status], revision)
	}
	for _, status := range spec.RevisionStatuses() {
		if len(found.ids[status]) > 0 {
			found.occurring = append(found.occurring, status)
		} else {
			found.others = append(found.others, status)
		}
	}
	return found
}

// aMixedHistory needs two statuses, or a filter has no visible effect.
func (w *World) aMixedHistory(ctx context.Context) error {
	w.existing(w.plane.Fixtures.Long)(ctx)
	if len(w.statuses(ctx).ids) > 1 {
		return nil
	}
	if missing := w.canCreate(); missing != nil {
		return missing
	}
	_, key := w.plane.Sources.Broken()
	return outcome.NotConfigured(key,
		"all revisions have the same status, so a status filter has no visible effect: set %s", key)
}

// aFilterThatKeepsAll names every status. What a filter keeps is another requirement's concern.
func (w *World) aFilterThatKeepsAll(ctx context.Context) error {
	w.query = statusFilter(strings.Join(spec.RevisionStatuses(), ","))
	if l := w.read(ctx, w.query); !l.Answer.OK() || len(l.Rows) < w.known() {
		return outcome.Blocked("a filter with all thirteen statuses returns %d of %d revisions (status %d)",
			len(l.Rows), w.known(), l.Answer.Status)
	}
	return nil
}

// clientFiltersByEach reads the list of each status, and then each revision alone. Where a revision has a status that
// is not one of the interface as it is written, which revisions a filter is to keep is a matter of that.
func (w *World) clientFiltersByEach(ctx context.Context, which string) error {
	known := w.statuses(ctx)
	filters := known.others
	if which == "status that occurs" {
		filters = known.occurring
	}
	for _, status := range filters {
		w.compare(w.read(ctx, statusFilter(status)), nil, "with status "+status, nil)
	}
	statuses := w.statusesIn(common.Must(w.plane.GetEach(ctx, w.Deployment)))
	for i, status := range filters {
		c := &w.compared[i]
		c.want = statuses.ids[status]
		if statuses.strange != "" && c.differs() != nil {
			return outcome.Blocked("the filter %s returns %d revisions, and a revision has the status %q, which is not one of "+
				"the thirteen (CP-POLL-1)", status, len(c.Rows), statuses.strange).ByRequirement("CP-POLL-1")
		}
	}
	return nil
}

// clientFiltersBySeveral puts each status that occurs at each place of two or three, so that a target which heeds only
// the first or only the last is seen, and names it twice.
func (w *World) clientFiltersBySeveral(ctx context.Context, which string) error {
	statuses := w.statuses(ctx)
	isPairs, others := which == "pairs of statuses", statuses.others
	if !isPairs && (len(statuses.occurring) == 0 || len(others) < 2) {
		return outcome.Inconclusive("%d statuses occur, and %d do not: too few to be combined",
			len(statuses.occurring), len(others))
	}
	var filters []string
	for i, s := range statuses.occurring {
		next := statuses.occurring[(i+1)%len(statuses.occurring)]
		if next == s { // no other one occurs
			next = others[0]
		}
		if isPairs {
			filters = append(filters, s+","+next, next+","+s)
			continue
		}
		filters = append(filters, s+","+s, s+","+next+","+s, s+","+next+","+others[1], others[0]+","+s+","+next,
			next+","+others[0]+","+s, strings.Join(others, ",")+","+s)
	}
	w.compareUnions(ctx, filters)
	return nil
}

// compareUnions reads the list of several statuses, and of each alone: what those hold is the concern of another
// requirement. A status that is named twice may be refused.
func (w *World) compareUnions(ctx context.Context, filters []string) {
	alone := map[string]plane.List{}
	for _, filter := range filters {
		var want []string
		for status := range strings.SplitSeq(filter, ",") {
			if _, known := alone[status]; !known {
				alone[status] = w.read(ctx, statusFilter(status))
			}
			want = append(want, alone[status].IDs()...)
		}
		l := w.read(ctx, statusFilter(filter))
		first, rest, _ := strings.Cut(filter, ",")
		if twice := strings.Contains(rest, first); len(want) > 0 && (!twice || !l.Answer.IsRefused()) {
			slices.Sort(want)
			w.compare(l, slices.Compact(want), "with status "+filter, alone[first].Answer)
		}
	}
}

// reconciled is the list of the revisions with a value of remote_reconciled, and with a status where there is one.
func (w *World) reconciled(ctx context.Context, value, status string) plane.List {
	filter := plane.Query("remote_reconciled="+value, statusFilter(status))
	l := w.read(ctx, filter)
	if !l.Answer.OK() {
		common.Check(outcome.Blocked("the list with %s cannot be read: %s", filter, outcome.Seen(l.Answer)).
			ByRequirement("CP-LIST-12"))
	}
	return l
}

// clientListsWithBoth compares only where the list with remote_reconciled alone is the same before and after.
func (w *World) clientListsWithBoth(ctx context.Context) {
	statuses := w.statuses(ctx)
	for _, value := range []string{"true", "false"} {
		before := w.reconciled(ctx, value, "")
		ids := before.IDs()
		var both []comparison
		for _, status := range statuses.occurring {
			l := w.reconciled(ctx, value, status)
			isOther := func(id string) bool { return !slices.Contains(statuses.ids[status], id) }
			want := slices.DeleteFunc(slices.Clone(ids), isOther)
			what := "with status " + status + " and remote_reconciled " + value
			both = append(both, comparison{l, want, what, before.Answer})
		}
		after := w.reconciled(ctx, value, "")
		if plane.SameIDs(ids, after.IDs()) {
			w.compared = append(w.compared, both...)
		}
	}
}

// shareNone counts what is listed with true before and after: in between a revision may become reconciled.
func (w *World) shareNone() error {
	first, second, again := w.whole[0].IDs(), w.whole[1].IDs(), w.whole[2].IDs()
	if len(first)+len(second) == 0 {
		return outcome.Inconclusive("both lists are empty")
	}
	isOther := func(id string) bool { return !slices.Contains(first, id) || !slices.Contains(again, id) }
	if shared := slices.DeleteFunc(second, isOther); len(shared) > 0 {
		a, with := w.whole[1].Answer, w.whole[0].Answer
		return outcome.Violated(a, "no revision that is listed with remote_reconciled=true", "%d of them", len(shared)).
			At("/resources").Comparing(a, with)
	}
	return nil
}

// unlessUnsettled returns an inconclusive outcome instead of wrong if an unsettled revision changed its status since the
// first look at all revisions.
func (w *World) unlessUnsettled(ctx context.Context, wrong error) error {
	if wrong == nil || w.Deployment == nil || w.Deployment.Found {
		return wrong
	}
	before, err := w.plane.LookAtEach(ctx, w.Deployment)
	isUnsettled := func(a *exchange.Response) bool { return !plane.IsSettled(plane.Meant(a.Get("status").String())) }
	if err != nil || !slices.ContainsFunc(before, isUnsettled) {
		return wrong
	}
	after, err := w.plane.GetEach(ctx, w.Deployment)
	if err != nil {
		return wrong
	}
	if changed := changedStatus(before, after); changed != nil {
		return outcome.Inconclusive("a superseded revision changed its status to %s while the suite compared lists: %v; run the suite again",
			changed.Get("status"), wrong)
	}
	return wrong
}

// changedStatus returns the first of the later responses that shows another status than the earlier response for the same
// revision, if that one had not settled. It returns nil if there is none.
func changedStatus(before, after []*exchange.Response) *exchange.Response {
	unsettled := map[string]string{} // status by id
	for _, a := range before {
		if status := a.Get("status").String(); a.OK() && !plane.IsSettled(plane.Meant(status)) {
			unsettled[a.Get("id").String()] = status
		}
	}
	for _, a := range after {
		was, known := unsettled[a.Get("id").String()]
		if known && a.OK() && a.Get("status").String() != was {
			return a
		}
	}
	return nil
}
