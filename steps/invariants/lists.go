package invariants

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// lists judges that lists are not shorter than the number of revisions that were known before (section 4). Within patience
// after a write, a list may lack the revision of that write.
type lists struct {
	*revisions                                 // of the same record
	known      map[string]map[string]time.Time // when a revision was first named, by deployment and revision
	listed     map[string]bool                 // revisions in any list without a filter
}

func newLists(r *revisions) *lists {
	return &lists{revisions: r, known: map[string]map[string]time.Time{}, listed: map[string]bool{}}
}

func (l *lists) note(s *seen) {
	deployment := s.In("deployment_id")
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

// noteRevision notes when a revision was first named.
func (l *lists) noteRevision(deployment, revision string, at time.Time) {
	if deployment == "" || revision == "" {
		return
	}
	if l.known[deployment] == nil {
		l.known[deployment] = map[string]time.Time{}
	}
	keepEarliest(l.known[deployment], exchange.IDKey(revision), at)
}

// check judges first pages without a filter. A list that was requested within patience counts as judged, too.
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
		t.violated(s, outcome.MissingItem, "/resources", "The list of revisions lacks revisions that the server named before",
			"at least "+reports.Count(want, "revision"), reports.Count(rows, "revision"))
	}
}

// checkListed judges that each known revision is in a list without a filter. The evidence is a first page that has room for
// the revision. If the revision is on another page, it is not lost: then the limit or the offset is wrong.
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

// firstPage returns the limit of the query of a list, and whether the query is that of a first page without a filter.
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
