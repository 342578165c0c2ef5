package agentserver

// Plan is what becomes of the unfinished runs of a thread when a new run arrives.
type Plan struct {
	Refuse    string   // why the new run is not accepted; empty: it is
	Delete    []string // run ids: deleted, with every message they wrote
	Interrupt []string // run ids: ended as they are, their messages stay
}

// Strategy decides about the unfinished runs of a thread, oldest first. It must not touch anything: the store calls it
// inside of the transaction that then does what it says (interface, section 3, "Run rollback rule").
type Strategy func(unfinished []Run) Plan

// Strategies are the multitask strategies by name.
func Strategies() map[string]Strategy {
	return map[string]Strategy{
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

func reject(unfinished []Run) Plan {
	if len(unfinished) > 0 {
		return Plan{Refuse: "the thread has a run in progress: wait for it, or choose another multitask_strategy"}
	}
	return Plan{}
}

// enqueue leaves everything as it is: the engine runs the new run when those before it have ended.
func enqueue(unfinished []Run) Plan {
	if len(unfinished) >= maxQueue {
		return Plan{Refuse: "too many runs wait on the thread: wait for some of them"}
	}
	return Plan{}
}

func interrupt(unfinished []Run) Plan { return Plan{Interrupt: ids(unfinished)} }

func rollback(unfinished []Run) Plan { return Plan{Delete: ids(unfinished)} }

func ids(runs []Run) []string {
	out := make([]string, len(runs))
	for i, r := range runs {
		out[i] = r.ID
	}
	return out
}
