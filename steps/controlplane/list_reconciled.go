package controlplane

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// reconciled holds the sentences about remote_reconciled, alone and beside the status (section 4). What the parameter means is not judged.
type reconciled struct {
	*lists
	thrice   [3][]string // ids of the revisions with true, with false, and with true once more
	pages    [3]*client.Answer
	statuses map[string][]string    // ids by status
	alone    map[string][2][]string // ids with remote_reconciled, by its value: before the other lists and after them
	together map[[2]string][]string // by value and status
	answers  map[[2]string]*client.Answer
}

func (w *reconciled) define(r *common.Definitions) {
	r.When(`the client lists its revisions with each value of remote_reconciled, alone and beside each status that occurs`, w.clientListsWithBoth)
	r.Then(`each list holds the revisions that both filters keep`, w.listsAreIntersections)
	r.When(`the client lists all its revisions with remote_reconciled true, with false, and with true again`, w.clientListsThrice)
	r.Then(`no revision is in the list with false and in both lists with true`, w.shareNone)
}

var reconciledValues = []string{"true", "false"}

// clientListsWithBoth reads the lists with remote_reconciled alone before and after the others: in between a revision may become reconciled.
func (w *reconciled) clientListsWithBoth(ctx context.Context) error {
	var err error
	if w.statuses, err = w.known(ctx); err != nil {
		return err
	}
	w.alone, w.together, w.answers = map[string][2][]string{}, map[[2]string][]string{}, map[[2]string]*client.Answer{}
	for _, reconciled := range reconciledValues {
		before, _, err := w.kept(ctx, "&remote_reconciled="+reconciled)
		if err != nil {
			return err
		}
		for _, status := range w.Plane.Statuses.Known() {
			if len(w.statuses[status]) == 0 {
				continue
			}
			key := [2]string{reconciled, status}
			if w.together[key], w.answers[key], err = w.kept(ctx, "&status="+url.QueryEscape(status)+"&remote_reconciled="+reconciled); err != nil {
				return err
			}
		}
		after, a, err := w.kept(ctx, "&remote_reconciled="+reconciled)
		if err != nil {
			return err
		}
		w.alone[reconciled], w.Scene.Answer = [2][]string{before, after}, a
	}
	return nil
}

// kept is what a filter keeps, sorted by id.
func (w *reconciled) kept(ctx context.Context, filter string) ([]string, *client.Answer, error) {
	rows, a, err := w.Plane.ListAll(ctx, w.Deployment.ID, filter)
	if err != nil {
		return nil, nil, err
	}
	if !a.OK() {
		return nil, nil, outcome.Blocked("the list with %s cannot be read: %s", filter[1:], outcome.Seen(a)).ByRequirement("CP-LIST-12")
	}
	return slices.Sorted(slices.Values(plane.IDs(rows))), a, nil
}

// listsAreIntersections compares with the list of remote_reconciled alone and with the statuses of the revisions. A list that changed in
// between decides nothing.
func (w *reconciled) listsAreIntersections(ctx context.Context) error {
	compared := 0
	for _, reconciled := range reconciledValues {
		alone := w.alone[reconciled]
		if !slices.Equal(alone[0], alone[1]) {
			continue
		}
		for _, status := range w.Plane.Statuses.Known() {
			key := [2]string{reconciled, status}
			a := w.answers[key]
			if a == nil {
				continue
			}
			want := slices.DeleteFunc(slices.Clone(alone[0]), func(id string) bool { return !slices.Contains(w.statuses[status], id) })
			compared += len(w.statuses[status])
			if got := w.together[key]; !slices.Equal(got, want) {
				return w.UnlessChanged(ctx, outcome.Violated(a, strconv.Itoa(len(want))+" revisions with status "+status+" and remote_reconciled "+reconciled, "%d", len(got)).At("/resources").Comparing(a, w.Scene.Answer))
			}
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("what remote_reconciled keeps changed between two reads, so nothing can be compared")
	}
	return nil
}

func (w *reconciled) clientListsThrice(ctx context.Context) (err error) {
	for i, value := range []string{"true", "false", "true"} {
		if w.thrice[i], w.pages[i], err = w.kept(ctx, "&remote_reconciled="+value); err != nil {
			return err
		}
	}
	return nil
}

// shareNone counts a revision only where it is listed with true before and after: between the requests it may become reconciled.
func (w *reconciled) shareNone() error {
	first, second, again := w.thrice[0], w.thrice[1], w.thrice[2]
	if len(first)+len(second) == 0 {
		return outcome.Inconclusive("both lists are empty")
	}
	shared := slices.DeleteFunc(slices.Clone(second), func(id string) bool { return !slices.Contains(first, id) || !slices.Contains(again, id) })
	if len(shared) > 0 {
		return outcome.Violated(w.pages[1], "no revision that is listed with remote_reconciled=true", "%d of them", len(shared)).
			At("/resources").Comparing(w.pages[1], w.pages[0])
	}
	return nil
}
