package faults

import (
	"time"

	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// agentStrategies returns the faults in how rollback treats the prior run and the new one.
func agentStrategies() []Fault {
	return []Fault{
		{
			Name: "rollback-is-enqueue", Breaks: "a run with rollback waits until the prior run has completed", Fails: "AS-ROLLBACK-1", Hangs: true,
			Apply: strategy("rollback", agentserver.Strategies()["enqueue"]),
		},
		{
			Name: "rollback-is-reject", Breaks: "a run with rollback is rejected while another run is in progress", Fails: "AS-ROLLBACK-1",
			Apply: strategy("rollback", agentserver.Strategies()["reject"]),
		},
		{
			Name: "rollback-is-interrupt", Breaks: "rollback interrupts the prior run; the run and its messages remain", Fails: "AS-ROLLBACK-2",
			Also: map[string]string{
				"AS-ROLLBACK-3": "neither the run nor its messages are deleted", "AS-ROLLBACK-4": "neither is deleted later",
				"AS-ROLLBACK-5": "nor are they where it waits behind another run", "AS-ROLLBACK-8": "every run of a sequence of rollbacks remains",
			},
			Apply: strategy("rollback", agentserver.Strategies()["interrupt"]),
		},
	}
}

// agentRemains returns the faults where parts of the prior run remain.
func agentRemains() []Fault {
	waited := func(t tombstone) bool { return t.place > 0 }
	return []Fault{
		{
			Name: "rolled-back-run-is-marked", Breaks: "rollback deletes the messages of the prior run and only marks the run as interrupted", Fails: "AS-ROLLBACK-2",
			Also:  remainsInAll("the run"),
			Apply: leaking(leak{run: remainingRunAs(threads.StatusInterrupted, every)}),
		},
		{
			Name: "rolled-back-messages-stay", Breaks: "the prior run is deleted, but its messages remain in the state", Fails: "AS-ROLLBACK-3",
			Also:  remainsInAll("what a run had written"),
			Apply: leaking(leak{messages: remainingMessages(every, func(t tombstone) []threads.Message { return t.written })}),
		},
		{
			Name: "rolled-back-input-stays", Breaks: "the input of the rolled-back run remains in the state", Fails: "AS-ROLLBACK-3",
			Also:  remainsInAll("the input"),
			Apply: leaking(leak{messages: remainingMessages(every, func(t tombstone) []threads.Message { return t.input })}),
		},
		{
			Name: "rolled-back-checkpoint-stays", Breaks: "the output of the rolled-back run remains in the state; only its input is removed", Fails: "AS-ROLLBACK-3",
			Also: map[string]string{
				"AS-ROLLBACK-4": "the output is not removed later", "AS-ROLLBACK-8": "the output of each run of a sequence of rollbacks remains",
			},
			Apply: leaking(leak{messages: remainingMessages(tombstone.hasOutput, func(t tombstone) []threads.Message { return t.written[len(t.input):] })}),
		},
		{
			Name: "waiting-run-stays", Breaks: "rollback removes a queued run from the queue, but does not delete it", Fails: "AS-ROLLBACK-5",
			Apply: leaking(leak{run: remainingRun(waited)}),
		},
		{
			Name: "waiting-run-leaves-its-input", Breaks: "a message of a rolled-back queued run remains in the state", Fails: "AS-ROLLBACK-5",
			Apply: leaking(leak{messages: remainingMessages(waited, leftoverMessage)}),
		},
		{
			Name: "rollback-deletes-the-first-only", Breaks: "of a running and a queued run, rollback deletes only the running one", Fails: "AS-ROLLBACK-5",
			Apply: strategy("rollback", func(unfinished []threads.Run) (plan threads.Plan) {
				for _, r := range unfinished[:min(1, len(unfinished))] {
					plan.Delete = append(plan.Delete, r.ID)
				}
				return plan
			}),
		},
		{
			Name: "rollback-deletes-the-last-only", Breaks: "of a running and a queued run, rollback deletes only the queued one", Fails: "AS-ROLLBACK-5",
			Apply: strategy("rollback", func(unfinished []threads.Run) (plan threads.Plan) {
				for _, r := range unfinished[max(0, len(unfinished)-1):] {
					plan.Delete = append(plan.Delete, r.ID)
				}
				return plan
			}),
		},
	}
}

// agentReappearances returns the faults where parts of the prior run reappear later.
func agentReappearances() []Fault {
	due := func(t tombstone) bool { return t.hasOutput() && time.Now().After(t.due()) }
	return []Fault{
		{
			Name: "rolled-back-run-comes-back", Breaks: "the worker of the rolled-back run continues and stores the run again on completion", Fails: "AS-ROLLBACK-4",
			Apply: leaking(leak{run: remainingRunAs(threads.StatusSuccess, due)}),
		},
		{
			Name: "rolled-back-answer-comes-back", Breaks: "the worker of the rolled-back run continues and adds its answer to the state", Fails: "AS-ROLLBACK-4",
			Apply: leaking(leak{messages: remainingMessages(due, leftoverMessage)}),
		},
	}
}

// remainsInAll says why what remains of any run that was rolled back breaks the requirements about other moments too.
func remainsInAll(what string) map[string]string {
	return map[string]string{
		"AS-ROLLBACK-4": what + " is not removed later",
		"AS-ROLLBACK-5": what + " remains of a run that another one waited for, too",
		"AS-ROLLBACK-8": what + " remains of each run in a sequence of rollbacks",
	}
}

func every(tombstone) bool { return true }

// leftoverMessage returns one message of a run that was rolled back.
func leftoverMessage(t tombstone) []threads.Message {
	return []threads.Message{{ID: t.run.ID, Type: "ai", Content: "The answer of run " + t.run.ID}}
}
