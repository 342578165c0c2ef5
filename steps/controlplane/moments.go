package controlplane

import (
	"context"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
)

// defineMoments holds the sentences that compare what was seen at one moment with what is seen at another.
func (w *retrieval) defineMoments(r *common.Registrar) {
	r.Then(`each shows the time of creation that it had when it was polled first`, w.createdAsAtFirst)
	r.When(`the client retrieves the deployment several times`, w.clientRetrievesOften)
	r.Then(`whenever it names the new revision, it shows what the update asked for`, w.configFollowsLatest)
}

// createdAsAtFirst compares with the earliest read of the run, at which the revision was still being built. The two
// reads may differ in precision: one may be of a time that has not been through the target's store.
func (w *retrieval) createdAsAtFirst() error {
	compared := 0
	for _, a := range w.answers {
		if !a.OK() {
			return outcome.Blocked("the revision cannot be retrieved: %s", outcome.Seen(a))
		}
		first := w.plane.ReadOf(a.Get("id").String()).First
		if first == nil {
			continue // what is answered under another id is the concern of another requirement
		}
		compared++
		was, is := first.Get("created_at"), a.Get("created_at")
		same, comparable := sameInstant(was, is)
		if !comparable {
			return outcome.Inconclusive("the revision shows no time of creation to compare")
		}
		if !same {
			return outcome.Violated(a, "created_at "+outcome.Shown(was)+" as at the first read, when the status was "+outcome.Shown(first.Get("status")), "%s", outcome.Shown(is)).At("/created_at")
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("no revision is answered under the id that it had when it was polled")
	}
	return nil
}

// sameInstant compares two date-times as exactly as the coarser of them is written.
func sameInstant(a, b gjson.Result) (same, comparable bool) {
	at, ok := instant(a)
	bt, ok2 := instant(b)
	if !ok || !ok2 {
		return false, false
	}
	if at.Equal(bt) {
		return true, true
	}
	finer, coarser := digits(a.String()), digits(b.String())
	if finer == coarser {
		return false, true
	}
	unit := time.Second
	for range min(finer, coarser) {
		unit /= 10
	}
	return at.Sub(bt).Abs() < unit, true
}

// digits counts those of the fraction of a second.
func digits(dateTime string) int {
	_, fraction, _ := strings.Cut(dateTime, ".")
	return len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
}

// clientRetrievesOften reads several times: what a target caches or reads from copies is not wrong at every read.
func (w *retrieval) clientRetrievesOften(ctx context.Context) error {
	const times = 6
	for range times {
		if err := w.clientRetrieves(ctx); err != nil {
			return err
		}
	}
	return nil
}

// configFollowsLatest judges each deployment that names the new revision, the first one after the update included:
// one answer is not to hold the id of the one revision and the configuration of another (section 2).
func (w *retrieval) configFollowsLatest() error {
	answers := w.answers
	if first := w.deployment.Naming; first != nil {
		answers = append([]*client.Answer{first}, answers...)
	}
	compared := 0
	for _, a := range answers {
		if !strings.EqualFold(a.Get("latest_revision_id").String(), w.deployment.Latest()) {
			continue
		}
		compared++
		w.scene.Answer = a
		if err := w.configAsUpdated(); err != nil {
			return err
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("the deployment never names the new revision")
	}
	return nil
}
