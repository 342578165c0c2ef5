package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// deployed is the status of a deployment that serves requests (section 3).
const deployed = "DEPLOYED"

// Poll has the observations of polling a revision.
type Poll struct {
	Response  *exchange.Response // the last one
	Final     string             // the last status
	Canonical string             // the last status in the spelling of the interface
	Seen      []string           // all statuses, each once
	Timeout   time.Duration      // the time limit if the poll reached it, or 0
}

// ReachesDeployed judges a poll that must end in DEPLOYED (section 3). sourceKey is the configuration key of the
// revision's source.
func ReachesDeployed(p Poll, sourceKey string) error {
	if p.Canonical == deployed {
		return nil
	}
	v := p.endsWrong(deployed)
	v.Actual = fmt.Sprintf("%s (seen: %s)", p.Final, strings.Join(p.Seen, ", "))
	switch {
	case p.Timeout > 0 && isKnown(p.Final):
		v.Hint = "raise timeouts.poll if the target needs longer"
	case isFailed(p.Canonical):
		v.Hint = "set " + sourceKey + " to a source that this target can build; if it is one, read the target's build log"
	}
	return outcome.Fails(p.Response, v)
}

// EndsFailed judges that a poll of a revision whose source cannot be built ends in one of the failed statuses. broken
// describes the source and, if known, its mistake.
func EndsFailed(p Poll, broken string) error {
	if isFailed(p.Canonical) {
		return nil
	}
	v := p.endsWrong("CREATE_FAILED, BUILD_FAILED or DEPLOY_FAILED")
	v.Actual = outcome.Shown(p.Response.Get("status"))
	v.Hint = "the source of the revision is " + broken
	if p.Timeout == 0 {
		v.Summary = "A revision that cannot be built ends in " + p.Final
	}
	return outcome.Fails(p.Response, v)
}

// endsWrong returns the violation by a poll that did not end in the expected status.
func (p Poll) endsWrong(expected string) outcome.Violation {
	if p.Timeout > 0 {
		return outcome.Violation{
			Kind:     outcome.NotFinished,
			Summary:  fmt.Sprintf("A revision is still %s after %s", p.Final, p.Timeout),
			Expected: expected + " within " + p.Timeout.String(),
			Pointer:  "/status",
		}
	}
	return outcome.Violation{
		Kind:     outcome.WrongValue,
		Summary:  "A revision ends in " + p.Final,
		Expected: expected,
		Pointer:  "/status",
	}
}

// KnowsStatuses judges that all statuses of a revision are defined by the interface (section 3).
func KnowsStatuses(a *exchange.Response, seen []string) error {
	for _, status := range seen {
		if !isKnown(status) {
			return outcome.Fails(a, outcome.Violation{
				Kind:     outcome.WrongForm,
				Class:    "unknown status",
				Summary:  "A revision has a status that the interface does not define",
				Expected: "one of the 13 statuses of the interface, such as QUEUED",
				Actual:   strconv.Quote(status),
				Pointer:  "/status",
			})
		}
	}
	return nil
}

func isKnown(status string) bool { return slices.Contains(spec.RevisionStatuses(), status) }

func isFailed(canonical string) bool { return slices.Contains(spec.FailedStatuses(), canonical) }

// StaysDeployed judges that a revision that was DEPLOYED still is. canonical is the status of the response in the
// spelling of the interface.
func StaysDeployed(a *exchange.Response, canonical string) error {
	if canonical == deployed {
		return nil
	}
	return fieldFails(a, "status", outcome.Violation{
		Kind:     outcome.Changed,
		Summary:  "A DEPLOYED revision does not stay DEPLOYED",
		Expected: deployed,
	})
}

// Retrieved is a revision that was retrieved before and after a list.
type Retrieved struct {
	ID     string
	Before *exchange.Response
	After  *exchange.Response
}

// ListAgrees judges that a list and GET of each revision show the same values of the fields of the interface. updated_at
// is not compared, because a server may change a revision in between. If the two responses of GET differ in a field, it
// is not compared either.
func ListAgrees(list *exchange.Response, revisions []Retrieved) error {
	if !list.OK() {
		return outcome.Blocked("the list cannot be retrieved: %s", outcome.Seen(list))
	}
	for _, r := range revisions {
		row := rowOf(list, r.ID)
		if !row.Exists() {
			return outcome.Blocked("the revision %s is not in the list: %s", r.ID, outcome.Seen(list))
		}
		if got := r.After.Get("id"); !exchange.SameID(got.String(), r.ID) {
			return outcome.Blocked("the revision %s cannot be retrieved: its id is %s", r.ID, outcome.Shown(got))
		}
		if err := rowAgrees(list, row, r); err != nil {
			return err
		}
	}
	return nil
}

// rowOf returns the revision with an id in a list. If the list lacks it, the value does not exist.
func rowOf(list *exchange.Response, id string) gjson.Result {
	for _, row := range list.Get("resources").Array() {
		if exchange.SameID(row.Get("id").String(), id) {
			return row
		}
	}
	return gjson.Result{}
}

func rowAgrees(list *exchange.Response, row gjson.Result, r Retrieved) error {
	for _, field := range append(slices.Clone(SourceFields), commitField, "status", "source", "created_at") {
		before, after, listed := r.Before.Get(field), r.After.Get(field), row.Get(field)
		if differ(field, after, listed) && !differ(field, after, before) {
			title := "The list and GET of the revision show different values of " + nameAt(field)
			if field == "status" && after.String() == deployed {
				title = "The list shows a stale status of a DEPLOYED revision"
			}
			return fieldFails(r.After, field, outcome.Violation{
				Kind:     outcome.WrongValue,
				Summary:  title,
				Expected: outcome.Shown(listed) + ", as in the list",
				Compared: compared(r.After, list),
			})
		}
	}
	return nil
}
