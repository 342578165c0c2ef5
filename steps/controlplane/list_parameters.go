package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// defineValues registers the sentences about values that are derived by rule: those of a list's parameters that the
// contract allows beside each other, those that it does not allow, other spellings of a number, and ids that nothing
// has (sections 4, 7 and 8).
func (w *World) defineValues(r *common.Definitions) {
	const status = `a status that occurs|a status that does not occur|all statuses`
	r.When(`the client lists its revisions with (no filter|remote_reconciled (?:true|false)|(?:`+status+`)`+
		`(?: and remote_reconciled (?:true|false))?), beside each limit and each offset`, w.clientListsParts)
	r.Then(`each page is the part of that list that its limit and offset name`, w.eachHoldsItsOwn)
	r.When(`the client lists its revisions with each invalid (limit|offset|remote_reconciled)`+
		`(, beside valid values of the other parameters)?`, w.clientListsInvalid)
	r.When(`the client lists its revisions with (limit|offset|remote_reconciled) in each other spelling`,
		w.clientListsSpelled)
	r.Then(`each is taken for the value that it stands for, or refused with 4xx`, w.eachStandsForItsValue)
	r.When(`the client lists the revisions of an unknown deployment with each parameter`,
		w.clientListsUnknownWithEach)
	const asks = `the client (retrieves|lists the revisions of|retrieves its latest revision under|` + emptyUpdate + `) `
	r.When(asks+`(?:an unknown deployment|the deployment with the id "([^"]*)")`, w.clientAsksBy)
	r.When(asks+`each id that is almost that of (the deployment|its revision)`, w.clientAsksByEach)
	r.When(`the client lists its revisions by its id in capital letters`, w.clientListsCapital)
	r.Then(`(?:the request|each of these lists) is answered with 404 and a detail that contains (?:the deployment|its) id`,
		w.eachNotFound)
	r.Then(`the list holds its revisions, or the request is refused with 4xx`, w.holdsItsOwnOrRefused)
}

// defaultLimit is how many revisions a list holds at most without limit (section 8).
const defaultLimit = 20

// numbered is the query of a parameter and the number that it means. A negative one stands for its absence.
func numbered(parameter string, n, absent int) (query string, means int) {
	if n < 0 {
		return "", absent
	}
	return fmt.Sprintf("%s=%d", parameter, n), n
}

// clientListsParts reads the whole list that the filter keeps, and then parts of it: with no filter, where the list is
// longest, with each limit beside each offset, else with each at least once. The limits are those that the contract
// allows at and next to its bounds and its default; the offsets those at both ends of the list and at the end of a page
// of the default size.
func (w *World) clientListsParts(ctx context.Context, filter string) error {
	query := w.queryOf(ctx, filter)
	whole := w.read(ctx, query)
	common.Check(outcome.Want(whole.Answer.OK(), whole.Answer, "status 2xx"))
	common.Check(w.pagesKeepTheOrder(ctx))
	ids, limits := whole.IDs(), []int{-1, defaultLimit - 1, defaultLimit + 1}
	for _, c := range w.boundaryCases("limit") {
		if n, err := strconv.Atoi(c.Value); err == nil && c.Valid {
			limits = append(limits, n)
		}
	}
	limits = slices.Compact(slices.Sorted(slices.Values(limits)))
	offsets := []int{-1, 0, 1, defaultLimit, max(len(ids)-1, 0), len(ids)}
	offsets = slices.Compact(slices.Sorted(slices.Values(offsets)))
	for i, limit := range limits {
		for j, offset := range offsets {
			if filter != "no filter" && i%len(offsets) != j && j%len(limits) != i {
				continue
			}
			limited, size := numbered("limit", limit, defaultLimit)
			placed, from := numbered("offset", offset, 0)
			page := w.page(ctx, plane.Query(limited, placed, query))
			from = min(from, len(ids))
			what := "with " + cmp.Or(limited, "no limit") + ", " + cmp.Or(placed, "no offset") + ", " + filter
			w.compare(page, ids[from:min(from+size, len(ids))], what, whole.Answer)
		}
	}
	return nil
}

// pagesKeepTheOrder compares one page without a filter with the whole list. Where it holds other revisions, nothing
// tells which ones belong to a page: no MUST says in which order revisions are listed.
func (w *World) pagesKeepTheOrder(ctx context.Context) error {
	all := w.read(ctx, "").IDs()
	a := common.Must(w.plane.Get(ctx, plane.RevisionsPath(w.Deployment.ID), plane.PageOf(2, 1)))
	got := plane.ListOf(a).IDs()
	if len(got) == 2 && len(all) > 2 && !plane.SameIDs(got, all[1:3]) {
		return outcome.Inconclusive("the page with limit=2&offset=1 is not the part of the whole list that begins there "+
			"(CP-LIST-6, CP-LIST-15)").ByRequirement("CP-LIST-6", "CP-LIST-15")
	}
	return nil
}

// queryOf is the query of a filter of the examples.
func (w *World) queryOf(ctx context.Context, filter string) string {
	statuses, query := w.statuses(ctx), ""
	for part := range strings.SplitSeq(filter, " and ") {
		switch part {
		case "no filter":
		case "a status that occurs": // the most frequent: its list has the most parts
			more := func(a, b string) int { return len(statuses.ids[a]) - len(statuses.ids[b]) }
			query = statusFilter(slices.MaxFunc(spec.RevisionStatuses(), more))
		case "a status that does not occur":
			if len(statuses.others) == 0 {
				common.Check(outcome.Inconclusive("each of the thirteen statuses occurs"))
			}
			query = statusFilter(statuses.others[0])
		case "all statuses":
			query = statusFilter(strings.Join(spec.RevisionStatuses(), ","))
		default: // "remote_reconciled true"
			query = plane.Query(query, strings.Replace(part, " ", "=", 1))
		}
	}
	return query
}

// boundaryCases are the values of a parameter around the bounds that the contract gives it.
func (w *World) boundaryCases(parameter string) []spec.Case {
	return spec.BoundaryCases(w.target.Collector.Operation(spec.ControlPlane, "list-revisions"), parameter)
}

// parameters are those of a list, each with two queries that the contract allows.
var parameters = []struct {
	name  string
	valid [2]string
}{
	{"limit", [2]string{"limit=1", "limit=100"}},
	{"offset", [2]string{"offset=0", "offset=1"}},
	{"status", [2]string{"status=DEPLOYED", "status=DEPLOYED%2CBUILD_FAILED"}},
	{"remote_reconciled", [2]string{"remote_reconciled=true", "remote_reconciled=false"}},
}

// clientListsInvalid sends each value that the contract does not allow, alone, or with each two of the other
// parameters. The valid values change in turn, and so does the place of the invalid one.
func (w *World) clientListsInvalid(ctx context.Context, parameter, beside string) {
	cases := slices.DeleteFunc(w.boundaryCases(parameter), func(c spec.Case) bool { return c.Valid })
	for i, c := range cases {
		invalid := parameter + "=" + url.QueryEscape(c.Value)
		what := fmt.Sprintf("%s=%s (%s)", parameter, c.Value, c.Why)
		if beside == "" {
			w.tryList(ctx, w.Deployment.ID, invalid, true, what)
			continue
		}
		for _, left := range parameters {
			if left.name == parameter {
				continue
			}
			var parts []string
			for j, p := range parameters {
				if p.name != parameter && p.name != left.name {
					parts = append(parts, p.valid[(i+j)%2])
				}
			}
			query := strings.Join(slices.Insert(slices.Clone(parts), i%3, invalid), "&")
			w.tryList(ctx, w.Deployment.ID, query, true, what+" beside "+strings.Join(parts, " and "))
		}
	}
}

// tryList lists the revisions of what may be no deployment, or with what may be no value.
func (w *World) tryList(ctx context.Context, id, query string, wrong bool, what string) {
	request := w.request(target.TheClient, "list its revisions", &plane.Deployment{ID: id})
	request.Query, request.Wrong = query, wrong
	w.sendCase(ctx, request, common.Case{What: what, ID: id})
}

// clientListsSpelled lists with each value that is spelled otherwise, and then with its other spellings.
func (w *World) clientListsSpelled(ctx context.Context, parameter string) error {
	common.Check(w.pagesKeepTheOrder(ctx))
	other := spec.Spellings(parameter == "remote_reconciled")
	for _, value := range slices.Sorted(maps.Keys(other)) {
		l := w.page(ctx, parameter+"="+value)
		if !l.Answer.OK() {
			return outcome.Inconclusive("the list with %s %s is answered with status %d", parameter, value, l.Answer.Status)
		}
		for _, spelling := range other[value] {
			w.list(ctx, parameter+"="+url.QueryEscape(spelling), true)
			what := fmt.Sprintf("%s %s for %q", parameter, value, spelling)
			w.compare(plane.ListOf(w.scene.Answer), l.IDs(), what, nil)
		}
	}
	return nil
}

func (w *World) eachStandsForItsValue(ctx context.Context) error {
	return w.eachCompared(ctx, func(c comparison) error {
		is := c.Answer.OK() && plane.SameIDs(c.IDs(), c.want)
		if is || c.Answer.IsRefused() {
			return nil
		}
		return outcome.Violated(c.Answer, fmt.Sprintf("the %d revisions of %s, or status 422", len(c.want), c.what), "%s",
			outcome.Seen(c.Answer))
	})
}

func (w *World) clientListsUnknownWithEach(ctx context.Context) {
	for _, p := range parameters {
		query := p.valid[0]
		w.tryList(ctx, target.UnknownID(), query, false, "an unknown deployment with "+query)
	}
}

// byID are the operations that are sent with the id of a deployment, as the sentences name them.
var byID = map[string]string{
	"retrieves":              "retrieve a deployment",
	"lists the revisions of": "list its revisions",
	underID:                  "retrieve a revision",
	emptyUpdate:              "update a deployment",
}

const (
	underID     = "retrieves its latest revision under"
	emptyUpdate = "sends an empty update to"
)

// noUUID is an id that no server has given.
const noUUID = "agentconform-none"

// clientAsksBy asks by an id that no deployment has: an unknown one where it is empty.
func (w *World) clientAsksBy(ctx context.Context, act, id string) {
	d := &plane.Deployment{ID: cmp.Or(id, target.UnknownID())}
	request := w.request(target.TheClient, byID[act], d)
	request.Wrong = id != ""
	w.sendCase(ctx, request, common.Case{ID: d.ID})
}

// clientAsksByEach asks by UUIDs that are like an id, and by an unknown id and a text, where these are not judged
// elsewhere. No update is sent to an id that could be that of a deployment which was there before the run.
func (w *World) clientAsksByEach(ctx context.Context, act, of string) error {
	id, latest := w.Deployment.ID, w.Deployment.Latest()
	asked := &plane.Deployment{ID: id, First: latest}
	ids, wrong := common.NearIDs(id, latest, "revision"), &asked.ID
	if of == "its revision" {
		act, ids, wrong = underID, common.NearIDs(latest, id, "deployment"), &asked.First
	}
	if act == emptyUpdate && w.Deployment.Found {
		ids = nil
	}
	if act == emptyUpdate || act == underID {
		ids = append(ids, common.Case{ID: target.UnknownID(), What: "an unknown id"},
			common.Case{ID: noUUID, What: "no UUID"})
	}
	switch {
	case act == underID && latest == "":
		return outcome.Inconclusive("no revision of the deployment is known")
	case len(ids) == 0:
		return outcome.Inapplicable("ids that are UUIDs",
			"the ids of the target are no UUIDs: what looks like another one may exist")
	}
	for _, c := range ids {
		*wrong = c.ID
		request := w.request(target.TheClient, byID[act], asked)
		request.Wrong = c.ID == noUUID
		w.sendCase(ctx, request, c)
	}
	return nil
}

// eachNotFound wants the detail of a 404 to contain the id that was asked for (section 7).
func (w *World) eachNotFound() error {
	return w.scene.EachCase(func(c common.Case) error {
		text := string(c.Answer.Body)
		if detail := c.Answer.Get("detail"); detail.Type == gjson.String {
			text = detail.Str
		}
		isNamed := strings.Contains(strings.ToLower(text), strings.ToLower(c.ID))
		if c.Answer.Status == http.StatusNotFound && isNamed {
			return nil
		}
		return c.Violates("status 404 and a detail that names " + c.ID)
	})
}

func (w *World) clientListsCapital(ctx context.Context) error {
	capital := strings.ToUpper(w.Deployment.ID)
	if capital == w.Deployment.ID {
		return outcome.Inapplicable("an id with letters", "the id %s has no small letters", capital)
	}
	w.get(ctx, plane.RevisionsPath(capital), "", false)
	return nil
}

// holdsItsOwnOrRefused leaves open whether an id in capital letters is the same id: if it is none, it is not found.
func (w *World) holdsItsOwnOrRefused() error {
	a := w.scene.Answer
	isOwn := func(id string) bool { return slices.Contains(w.Deployment.Revisions, id) }
	if a.IsRefused() || a.OK() && slices.ContainsFunc(plane.ListOf(a).IDs(), isOwn) {
		return nil
	}
	return outcome.Want(false, a, "revisions of the deployment, or status 4xx", "/resources")
}
