package invariants

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// lists judges that lists have at least as many revisions as were known before (section 4). Within patience after a
// write, a list may lack the revision of that write.
type lists struct {
	*revisions                                 // of the same record
	known      map[string]map[string]time.Time // when a revision was first named, by deployment and revision
	listed     map[string]bool                 // revisions in any list without a filter
	created    map[string]bool                 // deployments whose creation is known
	creating   map[string][]time.Time          // when requests that may have created a revision were sent, by deployment
	named      map[string]map[string]time.Time // when a list or GET of a deployment first named a revision
}

func newLists(r *revisions) *lists {
	return &lists{revisions: r, known: map[string]map[string]time.Time{}, listed: map[string]bool{}, created: map[string]bool{},
		creating: map[string][]time.Time{}, named: map[string]map[string]time.Time{}}
}

func (l *lists) note(s *seen) {
	deployment := s.In("deployment_id")
	if id := exchange.IDKey(deploymentOf(s)); isWrite(s) && s.Status/100 != 4 && id != "" {
		isCreation := s.Op.ID == "create-deployment"
		l.created[id] = l.created[id] || isCreation
		if isCreation || setsSource(s) {
			l.creating[id] = append(l.creating[id], s.Sent)
			if s.RepeatedWrite { // both requests may have created a revision
				l.creating[id] = append(l.creating[id], s.Sent)
			}
		}
	}
	for _, id := range namedIn(s) {
		noteFirst(l.named, exchange.IDKey(deployment), id, s.Ended)
	}
	if !s.ok() || s.Status == http.StatusAccepted { // 202 does not say that the revision exists
		return
	}
	switch s.Op.ID {
	case "create-deployment":
		l.noteRevision(s.response.Get("id").Str, s.response.Get("latest_revision_id").Str, s.Ended)
	case "update-deployment":
		l.noteRevision(deployment, s.response.Get("latest_revision_id").Str, s.Ended)
	case "list-revisions":
		for _, row := range s.response.Get("resources").Array() {
			id := row.Get("id").Str
			l.noteRevision(deployment, id, s.Ended)
			if !isFiltered(s.Query) {
				l.listed[exchange.IDKey(id)] = true
			}
		}
	}
}

// setsSource reports whether the source_revision_config of an update has a value other than null, of any type.
func setsSource(s *seen) bool {
	isSet := false
	s.request.Get(sourceConfig).ForEach(func(_, value gjson.Result) bool {
		isSet = isSet || value.Type != gjson.Null
		return true
	})
	return isSet
}

// noteRevision notes when a revision was first named.
func (l *lists) noteRevision(deployment, revision string, at time.Time) {
	noteFirst(l.known, deployment, exchange.IDKey(revision), at)
}

// noteFirst notes when a revision of a deployment was first named.
func noteFirst(all map[string]map[string]time.Time, deployment, revision string, at time.Time) {
	if deployment == "" || revision == "" {
		return
	}
	if all[deployment] == nil {
		all[deployment] = map[string]time.Time{}
	}
	keepEarliest(all[deployment], revision, at)
}

// check judges first pages without a filter. A list that was requested within patience counts as judged too.
func (l *lists) check(t *tally, s *seen) {
	if s.Op.ID != "list-revisions" || !s.shows() {
		return
	}
	deployment := s.In("deployment_id")
	limit, isFirst := firstPage(s.Query)
	if !isFirst || isAfter(l.deleted, deployment, s) {
		return
	}
	want := 0
	for _, at := range l.known[deployment] {
		if at.Add(l.patience).Before(s.Sent) {
			want++
		}
	}
	want = min(want, limit)
	t.judged++
	if rows := len(s.response.Get("resources").Array()); rows < want {
		summary := "The list of revisions lacks " + reports.Count(want-rows, "revision")
		if rows == 0 {
			summary = "The list of revisions is empty"
		}
		t.violated(s, outcome.MissingItem, "/resources", summary,
			fmt.Sprintf("the %s that the server named before", reports.Count(want, "revision")), reports.Count(rows, "revision"))
	}
}

// checkTwice judges that no list contains a revision twice, even within patience, because a deployment never has a
// revision twice.
func (l *lists) checkTwice(t *tally, s *seen) {
	if s.Op.ID != "list-revisions" || !s.shows() {
		return
	}
	t.judged++
	ids := revisionsIn(s)
	if len(ids) > len(distinct(ids)) {
		t.violated(s, outcome.ExtraItem, "/resources", "A list has the same revision twice",
			reports.Count(len(distinct(ids)), "different revision"), reports.Count(len(ids), "row"))
	}
}

// checkSurplus judges that lists and GETs of a deployment do not name more revisions than its creation and its updates
// may have created (section 2). Refused updates create none, and neither do updates without a field of the source.
func (l *lists) checkSurplus(t *tally, s *seen) {
	deployment := exchange.IDKey(s.In("deployment_id"))
	if len(namedIn(s)) == 0 || !l.created[deployment] || l.recorded {
		return
	}
	named, most := 0, 0
	for _, at := range l.named[deployment] {
		if !at.After(s.Ended) {
			named++
		}
	}
	for _, sent := range l.creating[deployment] {
		if sent.Before(s.Ended) {
			most++
		}
	}
	t.judged++
	if named > most {
		pointer := "/resources"
		if s.Op.ID == "get-deployment" {
			pointer = "/latest_revision_id"
		}
		t.violated(s, outcome.ExtraItem, pointer,
			fmt.Sprintf("A deployment has %s, and the requests can have created %d", reports.Count(named, "revision"), most),
			"at most "+reports.Count(most, "revision"), reports.Count(named, "revision"))
	}
}

// namedIn returns the ids of revisions that a list or GET of a deployment names.
func namedIn(s *seen) []string {
	latest := exchange.IDKey(s.response.Get("latest_revision_id").Str)
	switch {
	case !s.shows():
	case s.Op.ID == "list-revisions":
		return revisionsIn(s)
	case s.Op.ID == "get-deployment" && latest != "":
		return []string{latest}
	}
	return nil
}

// revisionsIn returns the ids of the revisions in a list, in its order.
func revisionsIn(s *seen) (ids []string) {
	for _, row := range s.response.Get("resources").Array() {
		ids = append(ids, exchange.IDKey(row.Get("id").Str))
	}
	return ids
}

// distinct returns each of the ids once.
func distinct(ids []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}

// checkListed judges that each known revision is in a list without a filter. The evidence is a first page with room for
// the revision. If the revision is on a different page, it is not lost, but the limit or the offset is wrong.
func (l *lists) checkListed(t *tally, s *seen) {
	if s.Op.ID != "list-revisions" || !s.shows() {
		return
	}
	deployment := s.In("deployment_id")
	limit, isFirst := firstPage(s.Query)
	rows := len(s.response.Get("resources").Array())
	if !isFirst || rows >= limit || isAfter(l.deleted, deployment, s) {
		return
	}
	t.judged++
	for _, revision := range slices.Sorted(maps.Keys(l.known[deployment])) {
		if !l.listed[revision] && l.known[deployment][revision].Add(l.patience).Before(s.Sent) {
			v := t.violated(s, outcome.MissingItem, "/resources", "No unfiltered list contains a revision that the server named before",
				"revision "+safe.ShortIDs(revision)+" in the list", reports.Count(rows, "revision")+" without it")
			v.Class = "in no list"
			return
		}
	}
}

// isFiltered reports whether the query of a list has a parameter other than limit and offset.
func isFiltered(query string) bool {
	values, err := url.ParseQuery(query)
	if err != nil {
		return true
	}
	for name := range values {
		if name != "limit" && name != "offset" {
			return true
		}
	}
	return false
}

// defaultLimit is the limit of a list that is requested without one (section 4).
const defaultLimit = 20

// firstPage returns the limit in the query of a list. It also reports whether the query is that of a first page without a
// filter.
func firstPage(query string) (limit int, is bool) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0, false
	}
	limit = defaultLimit
	for name, all := range values {
		n, err := strconv.Atoi(all[0])
		switch {
		case err != nil || len(all) > 1:
			return 0, false
		case name == "limit" && n >= 1 && n <= 100:
			limit = n
		case name != "offset" || n != 0:
			return 0, false
		}
	}
	return limit, true
}
