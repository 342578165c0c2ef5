package judge

import (
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Snapshot is a deployment at one time.
type Snapshot struct {
	Deployment *exchange.Response
	List       *exchange.Response // list of its revisions
	Latest     string             // id of the latest revision
	Revisions  []string           // ids in the list
}

// Added returns the revisions that are new in the second of two snapshots, each once.
func Added(before, after Snapshot) []string {
	var added []string
	for _, id := range distinct(after.Revisions) {
		if !exchange.ContainsID(before.Revisions, id) {
			added = append(added, id)
		}
	}
	return added
}

// distinct returns each of the ids once, in the order of the list. CP-LIST-6 judges lists with duplicates.
func distinct(ids []string) (each []string) {
	for _, id := range ids {
		if !exchange.ContainsID(each, id) {
			each = append(each, id)
		}
	}
	return each
}

// CreatesRevisions judges that one or several updates created the wanted number of revisions and lost none (section 2).
// act is the last response. expected describes the wanted number.
func CreatesRevisions(act *exchange.Response, before, after Snapshot, want int, expected string) error {
	added, listed := Added(before, after), len(distinct(after.Revisions))
	total := len(distinct(before.Revisions)) + want
	created := reports.Count(len(added), "revision")
	v := outcome.Violation{
		Expected: expected,
		Actual: fmt.Sprintf("%d new, %d in total (%d before)\nlatest_revision_id %s (before: %s)\n%s",
			len(added), listed, total-want, after.Latest, before.Latest, strings.Join(added, "\n")),
		Compared: compared(after.List, before.List),
	}
	switch {
	case len(added) > want && want == 0:
		v.Kind = outcome.Changed
		v.Summary = updateOf(act) + " creates " + created
	case len(added) > want:
		v.Kind = outcome.ExtraItem
		v.Summary = fmt.Sprintf("%s creates %s instead of %d", updateOf(act), created, want)
	case len(added) == 0 && want > 0:
		v.Kind = outcome.NoEffect
		v.Summary = updateOf(act) + " creates no revision"
	case len(added) < want:
		v.Kind = outcome.NoEffect
		v.Summary = fmt.Sprintf("Updates create %s instead of %d", created, want)
	case want > 0 && listed < total:
		v.Kind = outcome.MissingItem
		v.Summary = "An update removes an earlier revision from the list"
	case want == 0 && before.Latest != "" && !exchange.SameID(after.Latest, before.Latest): // it may be null during a build
		v.Kind = outcome.Changed
		v.Summary = updateOf(act) + " changes latest_revision_id"
		v.Expected = "latest_revision_id " + safe.ShortIDs(before.Latest) + ", as before"
		v.Actual = safe.ShortIDs(after.Latest) + ", although no revision is new"
		v.Compared = compared(after.Deployment, before.Deployment)
	default:
		return nil
	}
	return outcome.Fails(act, v)
}

// updateOf returns a name of an update: its sender unless that is the owner, whether it was refused, and the values that
// it sent.
func updateOf(a *exchange.Response) string {
	name := "An update"
	if a.IsRefused() {
		name = "A refused update"
	}
	by := a.Request.Caller.Name
	switch {
	case by != "":
		return name + " by " + by
	case len(a.Request.Body) == 0:
		return name
	}
	return name + " with " + safe.CutJSON(string(a.Request.Body), 90)
}

// NamesRevision judges that the latest_revision_id of a deployment names the new revision after an update.
func NamesRevision(before, after Snapshot, revision string) error {
	const path = "latest_revision_id"
	shown := after.Deployment.Get(path).String()
	if exchange.SameID(shown, revision) || !exchange.SameID(shown, before.Latest) {
		return HasID(after.Deployment, path, revision)
	}
	return outcome.Fails(after.Deployment, outcome.Violation{
		Kind:     outcome.WrongValue,
		Summary:  "The deployment still shows the latest_revision_id from before the update",
		Expected: safe.ShortIDs(revision) + ", the new revision",
		Actual:   safe.ShortIDs(shown) + ", the revision before the update",
		Pointer:  pointerTo(path),
	})
}

// NamesSecond judges that a deployment names the revision of the second of two updates. first and second are the latest
// revisions after each update.
func NamesSecond(before, after Snapshot, first, second string) error {
	v := outcome.Violation{
		Expected: "latest_revision_id " + safe.ShortIDs(second),
		Actual: fmt.Sprintf("%s, with %d revisions (%d before)",
			safe.ShortIDs(after.Latest), len(after.Revisions), len(before.Revisions)),
		Pointer:  "/latest_revision_id",
		Compared: compared(after.Deployment, before.Deployment),
	}
	switch {
	case exchange.SameID(second, first):
		v.Kind = outcome.NoEffect
		v.Summary = "The second of two updates does not change latest_revision_id"
		v.Expected = "a new latest_revision_id after the second update"
	case !exchange.SameID(after.Latest, second):
		v.Kind = outcome.Stale
		v.Summary = "The deployment shows a stale latest_revision_id after two updates"
	default:
		return nil
	}
	return outcome.Fails(after.Deployment, v)
}

// WasServed returns nil if the update returned 2xx. A refused update is not applicable. Any other failure is
// inconclusive, because the effect of the update is unknown.
func WasServed(a *exchange.Response) error {
	switch {
	case a.OK():
		return nil
	case a.IsRefused():
		return outcome.Inapplicable("updates without a source field", "the target refuses this update: %s", outcome.Seen(a))
	}
	return outcome.Inconclusive("the update was not served: %s", outcome.Seen(a))
}

// LatestHasSource judges the source of the latest revision, unless that revision cannot be retrieved.
func LatestHasSource(latest *exchange.Response, source string) error {
	if !latest.OK() {
		return nil
	}
	return HasSource(latest, source)
}

// ReadOnlyUnchanged judges that a deployment has the same id and created_at as before an update. The interface does not
// require a deployment to have a created_at.
func ReadOnlyUnchanged(now, before *exchange.Response) error {
	for _, field := range []string{"id", "created_at"} {
		was, is := before.Get(field), now.Get(field)
		_, wasTime := Instant(was)
		_, isTime := Instant(is)
		if wasTime != isTime || differ(field, was, is) {
			return fieldFails(now, field, outcome.Violation{
				Kind:     outcome.Changed,
				Summary:  "An update changes the " + field + " of the deployment",
				Expected: outcome.Shown(was) + ", as before",
				Compared: compared(now, before),
			})
		}
	}
	return nil
}
