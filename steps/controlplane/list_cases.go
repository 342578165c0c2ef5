package controlplane

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// listCases holds the sentences about lists whose cases are derived by rule: spellings of a number, ids that are
// almost those of a deployment, parameters beside an unknown id, and several statuses (sections 4, 7 and 8).
type listCases struct {
	*lists
	filtering *filtering
	spelled   []spelled
	wrong     []wrongID
}

// spelled is a value in another spelling, the list that the value itself is answered with, and how this spelling was answered.
type spelled struct {
	value, stands string
	want          []string // the ids of the revisions
	answer        *client.Answer
}

// wrongID is a list of what is no deployment, and how it was answered.
type wrongID struct {
	id, name string
	answer   *client.Answer
}

func (w *listCases) define(r *common.Definitions) {
	r.When(`the client lists its revisions with (limit|offset|remote_reconciled) in each other spelling`, w.clientListsSpelled)
	r.When(`the client lists the revisions of an unknown deployment with each parameter`, w.clientListsUnknownWithEach)
	r.When(`the client lists the revisions of each id that is almost that of the deployment`, w.clientListsNearIDs)
	r.When(`the client lists its revisions by its id in capital letters`, w.clientListsCapital)
	r.When(`the client filters its revisions by three statuses, and by one that is named twice`, w.clientFiltersByThree)
	r.When(`the client pages through each filtered list, five at a time, by the returned offsets`, w.clientPagesFilteredOn)
	r.When(`the client retrieves each id that is almost that of its revision`, w.clientRetrievesNearIDs)
	r.When(`the client retrieves each id that is almost that of the deployment`, w.clientRetrievesNearDeployments)
	r.When(`the client retrieves its latest revision under each id that is almost that of the deployment`, w.clientRetrievesUnderNearIDs)
	r.When(`the client sends an empty update to each id that is almost that of the deployment`, w.clientUpdatesNearIDs)
	r.Then(`each of these requests is refused with 4xx`, w.eachRefused)
	r.Then(`each is taken for the value that it stands for, or refused with 4xx`, w.Steady(w.eachStandsForItsValue))
	r.Then(`each of these lists is answered with 404 and a detail that contains its id`, w.eachNotFound)
	r.Then(`the list holds its revisions, or the request is refused with 4xx`, w.holdsItsOwnOrRefused)
}

// clientListsSpelled lists with each value that is spelled otherwise, and then with its other spellings.
func (w *listCases) clientListsSpelled(ctx context.Context, parameter string) error {
	other := spec.Spellings(parameter == "remote_reconciled")
	for _, value := range slices.Sorted(maps.Keys(other)) {
		if err := w.List(ctx, parameter+"="+value, false); err != nil {
			return err
		}
		if !w.Scene.Answer.OK() {
			return outcome.Inconclusive("the list with %s %s is answered with status %d", parameter, value, w.Scene.Answer.Status)
		}
		want := plane.IDs(w.Scene.Answer.Get("resources").Array())
		for _, spelling := range other[value] {
			if err := w.List(ctx, parameter+"="+url.QueryEscape(spelling), true); err != nil {
				return err
			}
			w.spelled = append(w.spelled, spelled{spelling, parameter + " " + value, want, w.Scene.Answer})
		}
	}
	return nil
}

func (w *listCases) eachStandsForItsValue() error {
	var wrong []*outcome.Outcome
	for _, s := range w.spelled {
		got := plane.IDs(s.answer.Get("resources").Array())
		if !s.answer.Refused() && (!s.answer.OK() || !slices.Equal(got, s.want)) {
			wrong = append(wrong, outcome.Violated(s.answer, fmt.Sprintf("the %d revisions of %s for %q, or status 422", len(s.want), s.stands, s.value),
				"status %d with %d revisions", s.answer.Status, len(got)).At("/resources"))
		}
	}
	return outcome.First(wrong)
}

func (w *listCases) clientListsUnknownWithEach(ctx context.Context) error {
	for _, v := range valid {
		if err := w.tryID(ctx, target.UnknownID(), v.first, "an unknown deployment with "+v.first); err != nil {
			return err
		}
	}
	return nil
}

// noUUID is an id that no server has given.
const noUUID = "agentconform-none"

// nearIDs are UUIDs that differ little from one, and one of another kind: what is looked up by less than the whole
// id, or among all ids, is seen. They differ in the middle: ids that are counted up may differ at the end.
func nearIDs(id, other, kind string) (near [][2]string) {
	if u, err := uuid.Parse(id); err == nil {
		u[7] ^= 0x15
		near = append(near, [2]string{u.String(), "the id with another digit"})
	}
	if other != "" && !strings.EqualFold(id, other) {
		near = append(near, [2]string{other, "the id of the " + kind})
	}
	return near
}

func (w *listCases) clientListsNearIDs(ctx context.Context) error {
	for _, n := range nearIDs(w.Deployment.ID, w.Deployment.Latest(), "revision") {
		if err := w.tryID(ctx, n[0], "", n[1]); err != nil {
			return err
		}
	}
	return nil
}

func (w *listCases) clientRetrievesNearDeployments(ctx context.Context) error {
	return w.tryEach(nearIDs(w.Deployment.ID, w.Deployment.Latest(), "revision"), func(id string) error {
		return w.Retrieve(ctx, plane.DeploymentPath(id))
	})
}

func (w *listCases) clientRetrievesNearIDs(ctx context.Context) error {
	if w.Deployment.Latest() == "" {
		return outcome.Inconclusive("no revision of the deployment is known")
	}
	wrong := append(nearIDs(w.Deployment.Latest(), w.Deployment.ID, "deployment"), [2]string{noUUID, "a text that is no UUID"})
	return w.tryEach(wrong, func(id string) error {
		return w.retrieve(ctx, plane.RevisionPath(w.Deployment.ID, id), "", id == noUUID)
	})
}

func (w *listCases) clientRetrievesUnderNearIDs(ctx context.Context) error {
	latest := w.Deployment.Latest()
	if latest == "" {
		return outcome.Inconclusive("no revision of the deployment is known")
	}
	return w.tryEach(w.wrongDeployments(), func(id string) error { return w.retrieve(ctx, plane.RevisionPath(id, latest), "", id == noUUID) })
}

// clientUpdatesNearIDs changes nothing, should one of the ids be taken for that of a deployment.
func (w *listCases) clientUpdatesNearIDs(ctx context.Context) error {
	return w.tryEach(w.wrongDeployments(), func(id string) error {
		w.Deployment = &plane.Deployment{ID: id}
		return w.patch(ctx, plane.SourceUpdate(map[string]any{}), id == noUUID)
	})
}

func (w *listCases) wrongDeployments() [][2]string {
	return append(nearIDs(w.Deployment.ID, w.Deployment.Latest(), "revision"),
		[2]string{target.UnknownID(), "an unknown id"}, [2]string{noUUID, "a text that is no UUID"})
}

// tryEach asks with each wrong id, and keeps how that was answered.
func (w *listCases) tryEach(wrong [][2]string, ask func(id string) error) error {
	for _, n := range wrong {
		if err := ask(n[0]); err != nil {
			return err
		}
		w.wrong = append(w.wrong, wrongID{n[0], n[1], w.Scene.Answer})
	}
	return nil
}

func (w *listCases) eachRefused() error {
	var wrong []*outcome.Outcome
	for _, each := range w.wrong {
		if !each.answer.Refused() {
			wrong = append(wrong, outcome.Violated(each.answer, "status 4xx for "+each.name, "%s", outcome.Seen(each.answer)).
				SameAs("the request is refused with 4xx"))
		}
	}
	return outcome.First(wrong)
}

func (w *listCases) tryID(ctx context.Context, id, query, name string) error {
	err := w.retrieve(ctx, plane.RevisionsPath(id), query, false)
	if err == nil {
		w.wrong = append(w.wrong, wrongID{id, name, w.Scene.Answer})
	}
	return err
}

func (w *listCases) eachNotFound() error {
	var wrong []*outcome.Outcome
	for _, each := range w.wrong {
		if each.answer.Status != http.StatusNotFound || !detailNames(each.answer, each.id) {
			wrong = append(wrong, outcome.Violated(each.answer, "status 404 and a detail that names "+each.id+": "+each.name, "%s", outcome.Seen(each.answer)).
				SameAs("the request is answered with 404 and a detail that contains the deployment id"))
		}
	}
	return outcome.First(wrong)
}

func (w *listCases) clientListsCapital(ctx context.Context) error {
	capital := strings.ToUpper(w.Deployment.ID)
	if capital == w.Deployment.ID {
		return outcome.Inapplicable("an id with letters", "the id %s has no small letters", capital)
	}
	return w.retrieve(ctx, plane.RevisionsPath(capital), "", false)
}

// holdsItsOwnOrRefused leaves open whether an id in capital letters is the same id: if it is none, it is not found.
func (w *listCases) holdsItsOwnOrRefused() error {
	a := w.Scene.Answer
	rows := plane.IDs(a.Get("resources").Array())
	if a.Refused() || a.OK() && slices.ContainsFunc(rows, func(id string) bool { return slices.Contains(w.Deployment.Revisions, id) }) {
		return nil
	}
	return outcome.Violated(a, "revisions of the deployment, or status 4xx", "%s", outcome.Seen(a)).At("/resources")
}

// clientFiltersByThree puts each status that occurs at each place of three, and names it twice. It reads the list
// of each status too.
func (w *listCases) clientFiltersByThree(ctx context.Context) error {
	statuses, err := w.filtering.known(ctx)
	if err != nil {
		return err
	}
	occurring := slices.DeleteFunc(slices.Sorted(maps.Keys(statuses)), func(s string) bool { return !w.Plane.Statuses.IsKnown(s) })
	others := slices.DeleteFunc(slices.Clone(w.Plane.Statuses.Known()), func(s string) bool { return slices.Contains(occurring, s) })
	if len(occurring) == 0 || len(others) < 2 {
		return outcome.Inconclusive("%d statuses occur, and %d do not: too few to be combined", len(occurring), len(others))
	}
	filters := append(slices.Clone(occurring), others[0], others[1])
	for i, s := range occurring {
		next := occurring[(i+1)%len(occurring)]
		if next == s {
			next = others[0]
		}
		filters = append(filters, s+","+s, s+","+next+","+s, s+","+next+","+others[1], others[0]+","+s+","+next, next+","+others[0]+","+s, strings.Join(append(slices.Clone(others), s), ","))
	}
	for _, f := range filters {
		if err := w.listWhole(ctx, f); err != nil {
			return err
		}
		if last := len(w.whole) - 1; w.Scene.Answer.Refused() && strings.Count(f, f[:strings.IndexByte(f+",", ',')]) > 1 {
			w.whole = w.whole[:last] // a status that is named twice may be refused
		}
	}
	return nil
}

// clientPagesFilteredOn reads the list of each status that occurs, and then its pages as their offsets say.
func (w *listCases) clientPagesFilteredOn(ctx context.Context) error {
	if err := w.filtering.filterBy(ctx, true); err != nil {
		return err
	}
	for _, list := range w.whole {
		filter := "&status=" + url.QueryEscape(list.statuses)
		offset := 0
		for read := 0; read <= len(list.rows)+filteredPage; {
			if err := w.List(ctx, plane.PageOf(filteredPage, offset)+filter, false); err != nil {
				return err
			}
			w.filtering.statusesOf = append(w.filtering.statusesOf, list.statuses)
			rows, returned := w.Scene.Answer.Get("resources").Array(), w.Scene.Answer.Get("offset")
			if read += len(rows); !w.Scene.Answer.OK() || len(rows) < filteredPage || read >= len(list.rows) {
				break
			}
			if !common.IsInteger(returned) {
				return outcome.Inconclusive("the returned offset is not an integer and cannot be passed on: %s", outcome.Shown(returned))
			}
			offset = int(returned.Int())
		}
	}
	return nil
}
