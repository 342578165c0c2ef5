package controlplane

import (
	"context"
	"slices"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// reconciling holds the sentences about the two values of remote_reconciled (section 4). What the parameter means is not judged.
type reconciling struct {
	*lists
	first, second, again []string          // ids of the revisions with true, with false, and with true once more
	answers              [2]*client.Answer // the first pages with true and with false
}

func (w *reconciling) define(r *common.Definitions) {
	r.When(`the client lists all its revisions with remote_reconciled true, with false, and with true again`, w.clientListsWithBoth)
	r.Then(`no revision is in the list with false and in both lists with true`, w.shareNone)
}

func (w *reconciling) clientListsWithBoth(ctx context.Context) error {
	for i, ids := range []*[]string{&w.first, &w.second, &w.again} {
		value := "true"
		if i == 1 {
			value = "false"
		}
		rows, a, err := w.Plane.ListAll(ctx, w.Deployment.ID, "&remote_reconciled="+value)
		if err != nil {
			return err
		}
		if !a.OK() {
			return outcome.Blocked("the list with remote_reconciled=%s cannot be read: %s", value, outcome.Seen(a)).ByRequirement("CP-LIST-12")
		}
		*ids = plane.IDs(rows)
		if i < len(w.answers) {
			w.answers[i] = a
		}
	}
	return nil
}

// shareNone counts a revision only where it is listed with true before and after: between the requests it may become reconciled.
func (w *reconciling) shareNone() error {
	if len(w.first)+len(w.second) == 0 {
		return outcome.Inconclusive("both lists are empty")
	}
	shared := slices.DeleteFunc(slices.Clone(w.second), func(id string) bool {
		return !slices.Contains(w.first, id) || !slices.Contains(w.again, id)
	})
	if len(shared) > 0 {
		return outcome.Violated(w.answers[1], "no revision that is listed with remote_reconciled=true", "%d of them", len(shared)).
			At("/resources").Comparing(w.answers[1], w.answers[0])
	}
	return nil
}
