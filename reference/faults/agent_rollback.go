package faults

import (
	"net/http"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// agentStrategies holds the faults in what rollback does about the prior run and the new one.
func agentStrategies() []Fault {
	return []Fault{
		{
			Name: "rollback-is-enqueue", Breaks: "a run with rollback waits for the prior one", Fails: "AS-ROLLBACK-1", Hangs: true,
			Apply: strategy("rollback", agentserver.Strategies()["enqueue"]),
		},
		{
			Name: "rollback-is-reject", Breaks: "a run with rollback is refused while another one is in progress", Fails: "AS-ROLLBACK-1",
			Apply: strategy("rollback", agentserver.Strategies()["reject"]),
		},
		{
			Name: "strategy-is-ignored", Breaks: "multitask_strategy is accepted and ignored, whatever it says", Fails: "AS-ROLLBACK-1", Hangs: true,
			Also:  map[string]string{"AS-RUN-7": "an unknown multitask_strategy is ignored like any other"},
			Apply: onSentRun(func(run map[string]any) { delete(run, "multitask_strategy") }),
		},
		{
			Name: "new-run-takes-over-the-input", Breaks: "the new run begins with the input of the run that it takes the place of", Fails: "AS-ROLLBACK-1", Hangs: true,
			Apply: directed(inheritedInput),
		},
		{
			Name: "rollback-is-interrupt", Breaks: "the prior run is interrupted, and stays with all that it has written", Fails: "AS-ROLLBACK-2",
			Also:  map[string]string{"AS-ROLLBACK-3": "nothing is deleted, neither the run nor its messages"},
			Apply: strategy("rollback", agentserver.Strategies()["interrupt"]),
		},
		{
			Name: "rollback-deletes-pending-runs-only", Breaks: "a run that has begun is interrupted, and only one that has not is deleted", Fails: "AS-ROLLBACK-2",
			Also: map[string]string{"AS-ROLLBACK-3": "nothing is deleted of a run that has begun, neither the run nor its messages"},
			Apply: strategy("rollback", func(unfinished []threads.Run) (plan threads.Plan) {
				for _, r := range unfinished {
					if r.Status == threads.StatusPending {
						plan.Delete = append(plan.Delete, r.ID)
					} else {
						plan.Interrupt = append(plan.Interrupt, r.ID)
					}
				}
				return plan
			}),
		},
	}
}

// inheritedInput gives a run with rollback the input of the run in progress.
func inheritedInput(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
	if run := bodyOf(r); createRun.is(r) && run["multitask_strategy"] == "rollback" {
		thread := do(next, r, http.MethodGet, threadPath(r, threadOf(r))).object()
		if prior := d.latest(threadOf(r)); text(thread, "status") == "busy" && prior != nil {
			editBody(r, func(run map[string]any) { run["input"] = prior["input"] })
		}
	}
	next.ServeHTTP(w, r)
}

// agentRemains holds the faults in what remains of the prior run.
func agentRemains() []Fault {
	waited := func(g ghost) bool { return g.place > 0 }
	return []Fault{
		{
			Name: "rolled-back-run-is-marked", Breaks: "the messages of the prior run are deleted, and the run is only marked as interrupted", Fails: "AS-ROLLBACK-2",
			Apply: haunted(haunt{run: ended(threads.StatusInterrupted, every)}),
		},
		{
			Name: "rolled-back-run-stays-in-a-cache", Breaks: "the prior run is still found in a cache, as if it were in progress", Fails: "AS-ROLLBACK-2",
			Apply: haunted(haunt{run: left(every)}),
		},
		{
			Name: "rolled-back-messages-stay", Breaks: "the prior run is deleted, and what it has written stays", Fails: "AS-ROLLBACK-3",
			Apply: haunted(haunt{messages: kept(every, func(g ghost) []threads.Message { return g.written })}),
		},
		{
			Name: "rolled-back-input-stays", Breaks: "the input of the prior run stays in the state", Fails: "AS-ROLLBACK-3",
			Apply: haunted(haunt{messages: kept(every, func(g ghost) []threads.Message { return g.input })}),
		},
		{
			Name: "rolled-back-checkpoint-stays", Breaks: "what the graph has written before its end stays, and only the input is taken back", Fails: "AS-ROLLBACK-3",
			Apply: haunted(haunt{messages: kept(ghost.spoken, func(g ghost) []threads.Message { return g.written[len(g.input):] })}),
		},
		{
			Name: "waiting-run-stays", Breaks: "a run that waits behind another one is taken out of the queue, and not deleted", Fails: "AS-ROLLBACK-5",
			Apply: haunted(haunt{run: left(waited)}),
		},
		{
			Name: "waiting-run-comes-back", Breaks: "a run that waited behind another one is taken up when that would have been over", Fails: "AS-ROLLBACK-5",
			Apply: haunted(haunt{run: ended(threads.StatusSuccess, func(g ghost) bool { return waited(g) && time.Now().After(g.due()) })}),
		},
		{
			Name: "waiting-run-leaves-its-input", Breaks: "a message is left of a run that waited behind another one", Fails: "AS-ROLLBACK-5",
			Apply: haunted(haunt{messages: kept(waited, farewell)}),
		},
		{
			Name: "rollback-deletes-the-first-only", Breaks: "of a run in progress and one that waits behind it only the first is deleted", Fails: "AS-ROLLBACK-5",
			Apply: strategy("rollback", func(unfinished []threads.Run) (plan threads.Plan) {
				for _, r := range unfinished[:min(1, len(unfinished))] {
					plan.Delete = append(plan.Delete, r.ID)
				}
				return plan
			}),
		},
		{
			Name: "rollback-deletes-the-last-only", Breaks: "of a run in progress and one that waits behind it only the last is deleted", Fails: "AS-ROLLBACK-5",
			Apply: strategy("rollback", func(unfinished []threads.Run) (plan threads.Plan) {
				for _, r := range unfinished[max(0, len(unfinished)-1):] {
					plan.Delete = append(plan.Delete, r.ID)
				}
				return plan
			}),
		},
		{
			Name: "run-without-output-stays", Breaks: "a run is deleted by what it has written, so that one which has written nothing yet stays", Fails: "AS-ROLLBACK-5",
			Apply: haunted(haunt{run: left(func(g ghost) bool { return !g.spoken() && g.run.Strategy != "rollback" })}),
		},
	}
}

// agentReturns holds the faults at which the prior run comes back.
func agentReturns() []Fault {
	due := func(g ghost) bool { return g.spoken() && time.Now().After(g.due()) }
	return []Fault{
		{
			Name: "rolled-back-run-comes-back", Breaks: "the worker of the prior run goes on, and enters the run again when it is over", Fails: "AS-ROLLBACK-4",
			Apply: haunted(haunt{run: ended(threads.StatusSuccess, due)}),
		},
		{
			Name: "rolled-back-answer-comes-back", Breaks: "the worker of the prior run goes on, and its answer is added to the state", Fails: "AS-ROLLBACK-4",
			Apply: haunted(haunt{messages: kept(due, farewell)}),
		},
	}
}

func every(ghost) bool { return true }

// farewell is one message of a run that was rolled back.
func farewell(g ghost) []threads.Message {
	return []threads.Message{{ID: g.run.ID, Type: "ai", Content: "The answer of run " + g.run.ID}}
}
