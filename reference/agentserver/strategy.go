package agentserver

import "github.com/agentconform/agentconform/reference/agentserver/threads"

// Strategies are the multitask strategies by name.
func Strategies() map[string]threads.Strategy {
	return map[string]threads.Strategy{
		"reject":    reject,
		"enqueue":   enqueue,
		"interrupt": interrupt,
		"rollback":  rollback,
	}
}

// DefaultStrategy is used for a run that names none.
const DefaultStrategy = "enqueue"

// maxQueue bounds how many runs may wait on one thread.
const maxQueue = 1000

func reject(unfinished []threads.Run) threads.Plan {
	if len(unfinished) > 0 {
		return threads.Plan{Refuse: "the thread has a run in progress: wait for it, or choose another multitask_strategy"}
	}
	return threads.Plan{}
}

// enqueue leaves everything as it is: the engine runs the new run when those before it have ended.
func enqueue(unfinished []threads.Run) threads.Plan {
	if len(unfinished) >= maxQueue {
		return threads.Plan{Refuse: "too many runs wait on the thread: wait for some of them"}
	}
	return threads.Plan{}
}

func interrupt(unfinished []threads.Run) threads.Plan {
	return threads.Plan{Interrupt: ids(unfinished)}
}

func rollback(unfinished []threads.Run) threads.Plan { return threads.Plan{Delete: ids(unfinished)} }

func ids(runs []threads.Run) []string {
	out := make([]string, len(runs))
	for i, r := range runs {
		out[i] = r.ID
	}
	return out
}
