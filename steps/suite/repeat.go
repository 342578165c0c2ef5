package suite

import (
	"context"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/target"
)

// MaxRepeat is the maximum number of repetitions. With more, the ledger of a whole test run would make the result file
// too large to be read again.
const MaxRepeat = 50

// isRepeated reports whether the test run has several repetitions.
func (o *Options) isRepeated() bool { return o.Repeat > 1 }

// judgeAll judges the target once in each repetition. A repetition begins after the end of the previous one, so that no
// scenario fails because of the load of another repetition. If the target cannot be judged, no further repetition begins,
// because it would show the same.
func (r *run) judgeAll(ctx, within context.Context) error {
	for r.repetition = 1; ; r.repetition++ {
		if err := r.judge(ctx, within); err != nil {
			return err
		}
		isLast := r.repetition >= r.Repeat || ctx.Err() != nil
		if isLast || r.unreachable != "" || r.isRefused() || r.target.EndedEarly() != nil {
			return nil
		}
		r.conclude()
		r.prepareNext(ctx)
	}
}

// conclude adds the outcomes of the current repetition to the results.
func (r *run) conclude() {
	r.rejecting, r.rejected = r.blockRejected()
	r.wrongWords = r.blockUnknownWords()
	r.blockAfterEnd()
	groups := byRequirement(r.selected)
	counting := r.resultsOf(r.selected)
	for i := range counting.requirements {
		if q := &counting.requirements[i]; r.Set != nil {
			q.Level = reports.Level(r.Set.Requirements[q.ID].Level)
		}
	}
	r.explain(&reports.Result{Requirements: counting.requirements}, groups)
	r.counting.add(counting)
	r.notCounting.add(r.resultsOf(r.newer))
}

// prepareNext prepares the next repetition. It removes the objects that the current one has created, except the
// deployments that all repetitions share. Of the record it keeps the exchanges that reports show.
func (r *run) prepareNext(ctx context.Context) {
	r.maker.Wait()
	stays := r.maker.Repeat()
	r.removeAll(ctx, func(e reports.LedgerEntry) bool { return e.Reason == "" && !stays(e.CreatedBy) })
	r.target.Collector.Repeat(stays, r.shown())
	r.selected = slices.Clone(r.scenarios)
	r.verdicts = map[string]*verdict{}
	r.doubts = nil
	r.invariants = invariants.NewRecord(r.target, r.otherOutcomes)
	r.target.Progress(target.Event{Kind: target.Repeating, Repetition: r.repetition + 1, Total: r.Repeat})
}

// shown returns the IDs of the exchanges that reports show of the repetitions so far.
func (r *run) shown() map[int]bool {
	ids := map[int]bool{}
	r.counting.addShown(ids)
	r.notCounting.addShown(ids)
	return ids
}

// order returns the IDs of the exchanges in the result: all exchanges of the last repetition, and from earlier ones
// updates of deployments, which explain later reads, and exchanges that reports show.
func (r *run) order() []int {
	if r.recording != nil {
		return r.recordedOrder()
	}
	return r.target.Collector.Order()
}
