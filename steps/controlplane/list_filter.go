package controlplane

import (
	"context"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// defineFilters registers the steps about filters of lists (section 4).
func (w *lists) defineFilters(r *common.Definitions) {
	r.Given(`a deployment whose revisions have settled in different statuses`, w.takeMixedHistory)
	r.Given(`a status filter that matches all of them`, w.filterByAll)
	r.When(`the client filters its revisions by each (status that occurs|known status that does not occur)`,
		w.clientFiltersByEach)
	r.When(`the client filters its revisions by (pairs of statuses|three statuses, and by one that is named twice)`,
		w.clientFiltersBySeveral)
	r.When(`the client lists its revisions with each value of remote_reconciled, alone and combined with each status that occurs`,
		w.clientListsWithBoth)
	r.When(`the client lists all its revisions with remote_reconciled true, with false, and with true again`,
		w.clientListsReconciled)
	r.Then(`each list holds exactly the revisions with that status`, w.eachPageHasItsRevisions)
	r.Then(`each list is the union of the lists of its statuses`, w.eachPageHasItsRevisions)
	r.Then(`the pages hold exactly the filtered revisions`, w.eachPageHasItsRevisions)
	r.Then(`each list holds the revisions that both filters keep`, w.eachPageHasItsRevisions)
	r.Then(`no revision is in the list with false and in both lists with true`, func() error {
		before, other, after := w.whole[0], w.whole[1], w.whole[2]
		return judge.ShareNone(before.Response, other.Response, before.IDs(), other.IDs(), after.IDs())
	})
	r.Then(`the list is empty, or the request is refused with 4xx`,
		func() error { return judge.IsEmptyOrRefused(w.scene.Response, w.class) })
}

// byStatus has the ids of the deployment's revisions by the status that GET shows.
type byStatus struct {
	ids       map[string][]string // by the canonical status of the interface
	occurring []string            // known statuses that revisions have
	others    []string            // known statuses that no revision has
	unknown   string              // a status that is not spelled as in the interface, or ""
}

// mostFrequent returns the known status that most revisions have.
func (s *byStatus) mostFrequent() string {
	more := func(a, b string) int { return len(s.ids[a]) - len(s.ids[b]) }
	return slices.MaxFunc(spec.RevisionStatuses(), more)
}

// statuses returns the statuses of all revisions. Scenarios share the first read.
func (w *lists) statuses(ctx context.Context) (*byStatus, error) {
	responses, err := w.plane.LookAtEach(ctx, w.Deployment)
	if err != nil {
		return nil, err
	}
	return w.statusesIn(responses)
}

// statusesIn returns the revisions by the status in the responses.
func (w *lists) statusesIn(responses []*exchange.Response) (*byStatus, error) {
	found := &byStatus{ids: map[string][]string{}}
	for i, a := range responses {
		revision, written := w.Deployment.Revisions[i], a.Get("status").String()
		if !a.OK() || !exchange.SameID(a.Get("id").String(), revision) {
			return nil, outcome.Blocked("revision %s cannot be retrieved: %s", revision, outcome.Seen(a))
		}
		status := plane.CanonicalStatus(written)
		if !plane.IsKnown(written) {
			found.unknown = written
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
	return found, nil
}

// takeMixedHistory takes a deployment whose revisions have at least two different statuses. Otherwise a filter would have
// no visible effect.
func (w *lists) takeMixedHistory(ctx context.Context) error {
	if err := w.existing(w.plane.Fixtures.Long)(ctx); err != nil {
		return err
	}
	statuses, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	if len(statuses.ids) > 1 {
		return nil
	}
	if missing := w.canCreate(); missing != nil {
		return missing
	}
	broken, key := w.plane.Sources.Broken()
	if broken != nil {
		return outcome.Inapplicable("CP-POLL-4", "all revisions have the same status, so a status filter has no visible effect: "+
			"the target refuses the broken source, or its revision does not fail (CP-POLL-4)")
	}
	return outcome.NotConfigured(key,
		"all revisions have the same status, so a status filter has no visible effect: set %s", key)
}

// filterByAll sets a filter with every status. Other requirements judge what the filter removes.
func (w *lists) filterByAll(ctx context.Context) error {
	w.query = plane.StatusFilter(spec.RevisionStatuses()...)
	l, err := w.read(ctx, w.query)
	if err != nil {
		return err
	}
	if !l.Response.OK() || len(l.Rows) < w.known() {
		return outcome.Blocked("a filter with all thirteen statuses returns %d of %d revisions (status %d)",
			len(l.Rows), w.known(), l.Response.Status)
	}
	return nil
}

// clientFiltersByEach reads the list of each status, and then each revision. If a status is not spelled as in the
// interface, it is unknown which filter must return its revision.
func (w *lists) clientFiltersByEach(ctx context.Context, which string) error {
	known, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	filters := known.others
	if which == "status that occurs" {
		filters = known.occurring
	}
	for _, status := range filters {
		l, err := w.read(ctx, plane.StatusFilter(status))
		if err != nil {
			return err
		}
		w.compare(l, nil, "with status "+status, nil)
	}
	responses, err := w.plane.GetEach(ctx, w.Deployment)
	if err != nil {
		return err
	}
	statuses, err := w.statusesIn(responses)
	if err != nil {
		return err
	}
	for i, status := range filters {
		l := &w.compared[i]
		l.Want = statuses.ids[status]
		if statuses.unknown != "" && judge.HoldsExactly(*l) != nil {
			return outcome.Blocked("the filter %s returns %d revisions, and a revision has the status %q, which is not one of "+
				"the thirteen (CP-POLL-1)", status, len(l.IDs), statuses.unknown).ByRequirement("CP-POLL-1")
		}
	}
	return nil
}

// clientFiltersBySeveral combines two or three statuses. Each status that occurs takes each position, and is also named
// twice. This detects a server that uses only the first or the last status.
func (w *lists) clientFiltersBySeveral(ctx context.Context, which string) error {
	statuses, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	isPairs, others := which == "pairs of statuses", statuses.others
	if !isPairs && (len(statuses.occurring) == 0 || len(others) < 2) {
		return outcome.Inconclusive("%d statuses occur, and %d do not: too few to be combined",
			len(statuses.occurring), len(others))
	}
	var filters []string
	for i, s := range statuses.occurring {
		next := statuses.occurring[(i+1)%len(statuses.occurring)]
		if next == s { // no other status occurs
			next = others[0]
		}
		if isPairs {
			filters = append(filters, s+","+next, next+","+s)
			continue
		}
		filters = append(filters, s+","+s, s+","+next+","+s, s+","+next+","+others[1], others[0]+","+s+","+next,
			next+","+others[0]+","+s, strings.Join(others, ",")+","+s)
	}
	return w.compareUnions(ctx, filters)
}

// compareUnions reads the list of several statuses and the list of each of them. Other requirements judge the lists of
// single statuses. A server may refuse a status that is named twice.
func (w *lists) compareUnions(ctx context.Context, filters []string) error {
	single := map[string]plane.List{}
	for i, filter := range filters {
		var want []string
		for status := range strings.SplitSeq(filter, ",") {
			if _, known := single[status]; !known {
				l, err := w.read(ctx, plane.StatusFilter(status))
				if err != nil {
					return err
				}
				single[status] = l
			}
			want = append(want, exchange.IDKeys(single[status].IDs())...)
		}
		query := plane.StatusFilter(filter)
		if i%2 == 1 { // the comma need not be percent-encoded, and some clients do not encode it
			query = "status=" + filter
		}
		l, err := w.read(ctx, query)
		if err != nil {
			return err
		}
		first, rest, _ := strings.Cut(filter, ",")
		isTwice := strings.Contains(rest, first)
		if len(want) == 0 || isTwice && l.Response.IsRefused() {
			continue
		}
		slices.Sort(want)
		w.compare(l, slices.Compact(want), "with status "+filter, single[first].Response)
	}
	return nil
}

// clientListsReconciled reads the list with true before and after that with false.
func (w *lists) clientListsReconciled(ctx context.Context) error {
	for _, value := range []string{"true", "false", "true"} {
		l, err := w.reconciled(ctx, value, "")
		if err != nil {
			return err
		}
		w.whole = append(w.whole, l)
	}
	return nil
}

// reconciled returns the list of the revisions with a value of remote_reconciled. If status is not empty, it is part of
// the filter.
func (w *lists) reconciled(ctx context.Context, value, status string) (plane.List, error) {
	filter := plane.Query("remote_reconciled="+value, plane.StatusFilter(status))
	l, err := w.read(ctx, filter)
	if err != nil {
		return plane.List{}, err
	}
	if !l.Response.OK() {
		return plane.List{}, outcome.Blocked("the list with %s cannot be read: %s", filter, outcome.Seen(l.Response)).
			ByRequirement("CP-LIST-12")
	}
	return l, nil
}

// clientListsWithBoth lists the revisions with each combination of a value of remote_reconciled and a status that occurs.
func (w *lists) clientListsWithBoth(ctx context.Context) error {
	statuses, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	for _, value := range []string{"true", "false"} {
		if err := w.listReconciledByStatus(ctx, value, statuses); err != nil {
			return err
		}
	}
	return nil
}

// listReconciledByStatus compares the lists of one value. It does so only if the list without a status is the same before
// and after.
func (w *lists) listReconciledByStatus(ctx context.Context, value string, statuses *byStatus) error {
	before, err := w.reconciled(ctx, value, "")
	if err != nil {
		return err
	}
	compared := w.compared
	for _, status := range statuses.occurring {
		l, err := w.reconciled(ctx, value, status)
		if err != nil {
			return err
		}
		var want []string
		known := exchange.IDKeys(statuses.ids[status])
		for _, id := range before.IDs() {
			if slices.Contains(known, exchange.IDKey(id)) {
				want = append(want, id)
			}
		}
		w.compare(l, want, "with status "+status+" and remote_reconciled "+value, before.Response)
	}
	after, err := w.reconciled(ctx, value, "")
	if err != nil {
		return err
	}
	if !exchange.SameIDs(before.IDs(), after.IDs()) {
		w.compared = compared
	}
	return nil
}

// unlessUnsettled returns an inconclusive outcome instead of wrong if a revision that had not settled has changed its
// status since all revisions were first read.
func (w *lists) unlessUnsettled(ctx context.Context, wrong error) error {
	if wrong == nil || w.Deployment == nil || w.Deployment.Found {
		return wrong
	}
	before, err := w.plane.LookAtEach(ctx, w.Deployment)
	isUnsettled := func(a *exchange.Response) bool {
		return !plane.IsSettled(plane.CanonicalStatus(a.Get("status").String()))
	}
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

// changedStatus returns the first of the later responses with a different status than the earlier response for the same
// revision, if the revision had not settled. Otherwise it returns nil.
func changedStatus(before, after []*exchange.Response) *exchange.Response {
	unsettled := map[string]string{} // status by id
	for _, a := range before {
		if status := a.Get("status").String(); a.OK() && !plane.IsSettled(plane.CanonicalStatus(status)) {
			unsettled[exchange.IDKey(a.Get("id").String())] = status
		}
	}
	for _, a := range after {
		was, known := unsettled[exchange.IDKey(a.Get("id").String())]
		if known && a.OK() && a.Get("status").String() != was {
			return a
		}
	}
	return nil
}
