package judge

import (
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// IsEmptyOrRefused judges a list with a filter that matches no revision: it must be empty or refused. class is the kind
// of the value ("unknown value").
func IsEmptyOrRefused(a *exchange.Response, class string) error {
	rows := a.Get("resources")
	if a.IsRefused() || a.OK() && rows.Exists() && len(rows.Array()) == 0 {
		return nil
	}
	v := outcome.Violation{Class: class, Expected: "an empty list, or 4xx"}
	switch {
	case !a.OK():
		v.Kind = unrefused(a)
		v.Summary = returns(a)
	case !rows.Exists():
		v.Kind = outcome.Missing
		v.Summary = nameOf(a.Request) + " has no resources"
	default:
		v.Kind = outcome.ExtraItem
		v.Summary = nameOf(a.Request) + " is not empty"
	}
	return outcome.Fails(a, v)
}

// ShareNone judges that no revision is listed both with remote_reconciled=true and with false. The ids with true were
// read before and after those with false, because a revision may become reconciled in between. A revision may be in
// neither list if it is unknown whether it is reconciled.
func ShareNone(withTrue, withFalse *exchange.Response, before, ids, after []string) error {
	if len(before)+len(ids) == 0 && !(withTrue.OK() && withFalse.OK()) {
		return outcome.Inconclusive("a list cannot be read: %s", outcome.Seen(withTrue))
	}
	keysBefore, keysAfter := exchange.IDKeys(before), exchange.IDKeys(after)
	var shared []string
	for _, id := range exchange.IDKeys(ids) {
		if slices.Contains(keysBefore, id) && slices.Contains(keysAfter, id) {
			shared = append(shared, id)
		}
	}
	if len(shared) == 0 {
		return nil
	}
	return outcome.Fails(withFalse, outcome.Violation{
		Kind:     outcome.ExtraItem,
		Summary:  "The lists with remote_reconciled=true and false share " + reports.Count(len(shared), "revision"),
		Expected: "no revision in both lists",
		Actual:   "revision " + safe.ShortIDs(shared[0]) + " in both",
		Pointer:  "/resources",
		Compared: compared(withFalse, withTrue),
	})
}
