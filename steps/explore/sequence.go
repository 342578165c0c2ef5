package explore

import (
	"math/rand/v2"
	"slices"
)

// maxThreads is how many threads a sequence has.
const maxThreads = 3

// sequence returns random operations that apply, as far as that is known before they are sent.
func (e *Explorer) sequence(random *rand.Rand, n int) (all []Operation) {
	owners, busy := []int{}, map[int]bool{}
	runs := map[int][]int{}
	started := 0
	for len(all) < n {
		if len(owners) == 0 || len(owners) < maxThreads && random.IntN(12) == 0 {
			owner := e.user(random)
			all = append(all, Operation{Caller: owner, Verb: create, Thread: len(owners)})
			owners = append(owners, owner)
			continue
		}
		at := random.IntN(len(owners))
		may := verbs(busy[at], len(runs[at]) > 0)
		o := Operation{Caller: owners[at], Thread: at, Verb: may[random.IntN(len(may))]}
		if o.Verb != await && o.Verb != list && o.Verb != startUnknown && random.IntN(6) == 0 {
			o.Caller = random.IntN(len(e.callers))
		}
		switch {
		case slices.Contains(starts, o.Verb):
			started++
			o.Run = started
			if o.Caller == owners[at] && o.Verb != startUnknown {
				busy[at] = true
				runs[at] = append(runs[at], o.Run)
			}
		case o.Verb == await:
			busy[at] = false
		case o.Verb == retrieve || o.Verb == join:
			o.Run = runs[at][random.IntN(len(runs[at]))]
			if random.IntN(8) == 0 {
				o.Thread = random.IntN(len(owners))
				o.Caller = owners[o.Thread]
			}
		}
		o.Meanwhile = o.Verb != await && random.IntN(4) == 0
		all = append(all, o)
	}
	return all
}

// user is one of those who may create threads.
func (e *Explorer) user(random *rand.Rand) int {
	if len(e.callers) > second {
		return random.IntN(second + 1)
	}
	return first
}

// verbs are what may be done with a thread, as often as it is to be done.
func verbs(busy, hasRuns bool) (all []string) {
	all = []string{readState, readState, rollBack, startUnknown, list}
	if hasRuns {
		all = append(all, retrieve, retrieve, retrieve, join, join)
	}
	if busy {
		return append(all, await, await, await, rollBack, rollBack, rollWaiting)
	}
	return append(all, start, start, start, startWaiting, startWaiting)
}
