package controlplane

import (
	"context"
	"net/url"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
)

// lists is what the sentences about lists of revisions know in one scenario.
type lists struct {
	*World
	whole []wholeList // that the last act read
}

// defineListing registers the sentences about lists of revisions for one scenario.
func defineListing(r *common.Definitions, w *World) {
	l := &lists{World: w}
	(&paging{lists: l}).define(r)
	f := &filtering{lists: l}
	f.define(r)
	(&beside{lists: l, filtering: f}).define(r)
	(&both{lists: l, filtering: f}).define(r)
	(&invalidBeside{lists: l}).define(r)
	(&listCases{lists: l, filtering: f}).define(r)
	(&reconciling{lists: l}).define(r)
}

// wholeList is all that a list holds, whatever its pages.
type wholeList struct {
	statuses string // the filter
	rows     []gjson.Result
	answer   *client.Answer // the first page
}

func (w *lists) aLongHistory(ctx context.Context) error {
	return w.Read(ctx, w.Plane.Fixtures.Long)
}

// aKnownHistory is a long one where it can be created, else that of the existing deployment.
func (w *lists) aKnownHistory(ctx context.Context) error {
	return w.Read(ctx, w.Plane.Fixtures.Long)
}

// listWhole reads all revisions with the statuses, or all there are, and remembers the list.
func (w *lists) listWhole(ctx context.Context, statuses string) error {
	filter := ""
	if statuses != "" {
		filter = "&status=" + url.QueryEscape(statuses)
	}
	rows, first, err := w.Plane.ListAll(ctx, w.Deployment.ID, filter)
	if err != nil {
		return err
	}
	w.whole, w.Scene.Answer = append(w.whole, wholeList{statuses, rows, first}), first
	return nil
}

func (w *lists) rows() []gjson.Result { return w.Scene.Answer.Get("resources").Array() }
