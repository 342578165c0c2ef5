package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// defineValues registers the steps about values that are derived by rule: combinations of valid parameters of a list,
// invalid values, and other spellings of a number (sections 4, 7 and 8).
func (w *lists) defineValues(r *common.Definitions) {
	const status = `a status that occurs|a status that does not occur|all statuses`
	r.When(`the client lists its revisions with (no filter|remote_reconciled (?:true|false)|(?:`+status+`)`+
		`(?: and remote_reconciled (?:true|false))?), combined with each limit and each offset`, w.clientListsParts)
	r.Then(`each page has the revisions that its limit and offset select`, w.eachPageHasItsRevisions)
	r.When(`the client lists its revisions with each invalid (limit|offset|remote_reconciled)`+
		`(, combined with valid values of the other parameters)?`, w.clientListsInvalid)
	r.When(`the client lists its revisions with (limit|offset|remote_reconciled) in each other spelling`,
		w.clientListsSpelled)
	r.When(`the client lists its revisions with a parameter that the interface does not name, alone and with limit and offset`,
		w.clientListsWithUnknown)
	r.Then(`each list is the one without the parameter, or refused with 4xx`, w.eachStandsForItsValue)
	r.Then(`each is taken for the value that it stands for, or refused with 4xx`, w.eachStandsForItsValue)
}

// defaultLimit is the maximum number of revisions in a list without limit (section 8).
const defaultLimit = 20

// absent stands for a parameter that is not sent.
const absent = -1

// numbered returns the query of a parameter with a number, or "" if the parameter is absent.
func numbered(parameter string, n int) string {
	if n == absent {
		return ""
	}
	return fmt.Sprintf("%s=%d", parameter, n)
}

// clientListsParts reads the complete list with the filter, and then parts of it. Without a filter, when the list is
// longest, it combines each limit with each offset. Otherwise it uses each of them at least once. The limits are those
// that the contract allows at and next to its bounds and its default. The offsets are those at both ends of the list and
// at the end of a page of the default size.
func (w *lists) clientListsParts(ctx context.Context, filter string) error {
	query, err := w.queryOf(ctx, filter)
	if err != nil {
		return err
	}
	whole, err := w.read(ctx, query)
	if err != nil {
		return err
	}
	if err := judge.IsServed(whole.Response); err != nil {
		return err
	}
	if err := w.pagesKeepTheOrder(ctx); err != nil {
		return err
	}
	ids := whole.IDs()
	limits, offsets := w.partLimits(), partOffsets(len(ids))
	for i, limit := range limits {
		for j, offset := range offsets {
			if filter != "no filter" && i%len(offsets) != j && j%len(limits) != i {
				continue
			}
			limited, placed := numbered("limit", limit), numbered("offset", offset)
			inOrder := []string{limited, placed, query}
			if (i+j)%2 == 1 { // the order of parameters has no meaning
				slices.Reverse(inOrder)
			}
			page, err := w.page(ctx, plane.Query(inOrder...))
			if err != nil {
				return err
			}
			what := "with " + cmp.Or(reports.Joined(" and ", limited, placed, strings.TrimPrefix(filter, "no filter")), "no parameters")
			w.compare(page, part(ids, limit, offset), what, whole.Response)
			w.compared[len(w.compared)-1].Whole = ids
		}
	}
	return nil
}

// partLimits returns the limits with which parts of a list are read, in ascending order.
func (w *lists) partLimits() []int {
	limits := []int{absent, defaultLimit - 1, defaultLimit + 1}
	for _, c := range spec.BoundaryCases(w.listOperation(), "limit") {
		if n, err := strconv.Atoi(c.Value); err == nil && c.Valid {
			limits = append(limits, n)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(limits)))
}

// partOffsets returns the offsets at which parts of a list with n revisions are read, in ascending order.
func partOffsets(n int) []int {
	offsets := []int{absent, 0, 1, defaultLimit, max(n-1, 0), n}
	return slices.Compact(slices.Sorted(slices.Values(offsets)))
}

// part returns the part of a list that limit and offset name.
func part(ids []string, limit, offset int) []string {
	if limit == absent {
		limit = defaultLimit
	}
	if offset == absent {
		offset = 0
	}
	from := min(offset, len(ids))
	return ids[from:min(from+limit, len(ids))]
}

// pagesKeepTheOrder compares one page without a filter with the complete list.
func (w *lists) pagesKeepTheOrder(ctx context.Context) error {
	all, err := w.read(ctx, "")
	if err != nil {
		return err
	}
	a, err := w.plane.Get(ctx, plane.RevisionsPath(w.Deployment.ID), plane.PageOf(2, 1))
	if err != nil {
		return err
	}
	return judge.KeepsOrder(all.IDs(), plane.ListOf(a).IDs())
}

// queryOf returns the query of a filter in the examples.
func (w *lists) queryOf(ctx context.Context, filter string) (string, error) {
	statuses, err := w.statuses(ctx)
	if err != nil {
		return "", err
	}
	query := ""
	for part := range strings.SplitSeq(filter, " and ") {
		switch part {
		case "no filter":
		case "a status that occurs":
			query = plane.StatusFilter(statuses.mostFrequent())
		case "a status that does not occur":
			if len(statuses.others) == 0 {
				return "", outcome.Inconclusive("each of the thirteen statuses occurs")
			}
			query = plane.StatusFilter(statuses.others[0])
		case "all statuses":
			query = plane.StatusFilter(spec.RevisionStatuses()...)
		default: // "remote_reconciled true"
			query = plane.Query(query, strings.Replace(part, " ", "=", 1))
		}
	}
	return query, nil
}

// listOperation returns the operation of the contract that lists revisions.
func (w *lists) listOperation() spec.Operation {
	return w.target.Collector.Operation(spec.ControlPlane, "list-revisions")
}

// parameter returns a parameter of a list by its name.
func (w *lists) parameter(name string) spec.Parameter {
	for _, p := range w.listOperation().Parameters {
		if p.Name == name {
			return p
		}
	}
	return spec.Parameter{}
}

// parameters has the parameters of a list, each with two valid queries.
var parameters = []struct {
	name  string
	valid [2]string
}{
	{"limit", [2]string{"limit=1", "limit=100"}},
	{"offset", [2]string{"offset=0", "offset=1"}},
	{"status", [2]string{"status=DEPLOYED", "status=DEPLOYED%2CBUILD_FAILED"}},
	{"remote_reconciled", [2]string{"remote_reconciled=true", "remote_reconciled=false"}},
}

// clientListsInvalid sends each value that the contract does not allow: without other parameters, or with all other
// parameters except one. The valid values and the position of the invalid one change from request to request.
func (w *lists) clientListsInvalid(ctx context.Context, parameter, beside string) error {
	i := 0
	for _, c := range spec.BoundaryCases(w.listOperation(), parameter) {
		if c.Valid {
			continue
		}
		invalid := parameter + "=" + url.QueryEscape(c.Value)
		what := parameter + "=" + c.Value
		if beside == "" {
			if err := w.tryList(ctx, w.Deployment.ID, invalid, true, what); err != nil {
				return err
			}
			continue
		}
		for _, omitted := range parameters {
			if omitted.name == parameter {
				continue
			}
			valid := otherParameters(parameter, omitted.name, i)
			query := strings.Join(slices.Insert(slices.Clone(valid), i%(len(valid)+1), invalid), "&")
			combined := what + " with " + strings.Join(valid, " and ")
			if err := w.tryList(ctx, w.Deployment.ID, query, true, combined); err != nil {
				return err
			}
		}
		i++
	}
	return nil
}

// otherParameters returns a valid query of each parameter except the two given ones. turn selects the valid values.
func otherParameters(parameter, omitted string, turn int) []string {
	var valid []string
	for j, p := range parameters {
		if p.name != parameter && p.name != omitted {
			valid = append(valid, p.valid[(turn+j)%len(p.valid)])
		}
	}
	return valid
}

// tryList lists the revisions of an id that may belong to no deployment, or with a value that may be invalid.
func (w *World) tryList(ctx context.Context, id, query string, wrong bool, what string) error {
	request := w.request(target.TheClient, "list its revisions", &plane.Deployment{ID: id})
	request.Query = query
	request.Wrong = wrong
	return w.sendCase(ctx, request, common.Case{What: what, ID: id})
}

// clientListsSpelled lists the revisions with each value that has other spellings, and then with these spellings.
func (w *lists) clientListsSpelled(ctx context.Context, parameter string) error {
	if err := w.pagesKeepTheOrder(ctx); err != nil {
		return err
	}
	spellings := spec.Spellings(w.parameter(parameter))
	for _, value := range slices.Sorted(maps.Keys(spellings)) {
		query := parameter + "=" + value
		l, err := w.page(ctx, query)
		if err != nil {
			return err
		}
		if !l.Response.OK() {
			return outcome.Inconclusive("the list with %s returns %d", query, l.Response.Status)
		}
		for _, spelling := range spellings[value] {
			if err := w.list(ctx, parameter+"="+url.QueryEscape(spelling), true); err != nil {
				return err
			}
			w.compare(plane.ListOf(w.scene.Response), l.IDs(), query, nil)
		}
	}
	return nil
}

// clientListsWithUnknown lists the revisions with parameters that servers ignore, such as the one that clients add to avoid
// a cached response.
func (w *lists) clientListsWithUnknown(ctx context.Context) error {
	if err := w.pagesKeepTheOrder(ctx); err != nil {
		return err
	}
	for _, query := range []string{"", "limit=1", "limit=1&offset=1"} {
		known, err := w.page(ctx, query)
		if err != nil {
			return err
		}
		if err := judge.IsServed(known.Response); err != nil {
			return err
		}
		for _, unknown := range []string{"_=1", "conformance=true"} {
			if err := w.list(ctx, plane.Query(query, unknown), true); err != nil {
				return err
			}
			w.compare(plane.ListOf(w.scene.Response), known.IDs(), cmp.Or(query, "no parameters"), nil)
		}
	}
	return nil
}

func (w *lists) eachStandsForItsValue(ctx context.Context) error {
	return w.eachCompared(ctx, judge.StandsForValue)
}
