package explore

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
)

// kind is the kind of an operation, regardless of its objects.
type kind struct {
	verb   string
	caller int // owner, or another caller who must be refused
	with   string
}

// owner means the owner of a thread, or the client.
const owner = -1

// coverage counts how often an operation of one kind followed an operation of another kind on the same object. Some
// faults show only after a certain operation, so each pair is sent before any is repeated.
type coverage map[[2]kind]int

// next returns a random kind, or one of the kinds that have least often followed the last one. Frequent kinds are
// repeated in the list.
func (c coverage) next(random *rand.Rand, last kind, kinds []kind) kind {
	least := kinds
	if random.IntN(4) > 0 {
		least = c.least(last, kinds)
	}
	chosen := least[random.IntN(len(least))]
	c[[2]kind{last, chosen}]++
	return chosen
}

// least returns the kinds that have least often followed the last one.
func (c coverage) least(last kind, kinds []kind) (least []kind) {
	for _, k := range kinds {
		if len(least) > 0 && c[[2]kind{last, k}] < c[[2]kind{last, least[0]}] {
			least = nil
		}
		if len(least) == 0 || c[[2]kind{last, k}] == c[[2]kind{last, least[0]}] {
			least = append(least, k)
		}
	}
	return least
}

// maxThreads is the maximum number of threads in a sequence.
const maxThreads = 3

// threadKinds returns the kinds of operations on a thread at this agent server. It omits words that the graph does not
// understand, and callers that are not configured.
func (h *agentServer) threadKinds() (all []kind) {
	for _, verb := range []string{readState, readState, start, start, startWaiting, startWaiting, startTool, startFailing,
		rollBack, rollBack, rollWaiting, rollFailing, startUnknown, retrieve, retrieve, join, join, join, dropJoin, list} {
		if h.canSend(verb) {
			all = append(all, kind{verb: verb, caller: owner})
		}
	}
	for _, k := range []kind{{verb: start, caller: second}, {verb: start, caller: nobody}, {verb: start, caller: unknown},
		{verb: readState, caller: second}, {verb: retrieve, caller: second}} {
		if k.caller < len(h.callers) {
			all = append(all, k)
		}
	}
	return all
}

// plannedThread is a thread in a sequence that is being generated.
type plannedThread struct {
	owner  int
	last   kind
	runs   []int // numbers of its runs
	isBusy bool  // a run may be in progress
}

// sequence implements session. It waits for the end of the runs of a thread before the next plain run.
func (h *agentServer) sequence(random *rand.Rand, n int, c coverage) (all []Operation) {
	var threads []*plannedThread
	for at := range 1 + random.IntN(maxThreads) {
		caller := random.IntN(min(len(h.callers), second+1))
		threads = append(threads, &plannedThread{owner: caller, last: kind{verb: create, caller: owner}})
		all = append(all, Operation{Caller: caller, Verb: create, Object: at})
	}
	kinds, runs := h.threadKinds(), 0
	withoutRuns := slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return isAboutRun(k.verb) })
	for len(all) < n {
		at := random.IntN(len(threads))
		t := threads[at]
		possible := kinds
		if len(t.runs) == 0 {
			possible = withoutRuns
		}
		k := c.next(random, t.last, possible)
		t.last = k
		o := Operation{Caller: t.owner, Verb: k.verb, Object: at, Meanwhile: random.IntN(4) == 0}
		if k.caller != owner {
			o.Caller = k.caller
			if k.caller == t.owner { // the thread belongs to the second user
				o.Caller = first
			}
		}
		isStart := slices.Contains(starts, o.Verb)
		if t.isBusy && (slices.Contains(plainStarts, o.Verb) || random.IntN(6) == 0) {
			all = append(all, Operation{Caller: t.owner, Verb: await, Object: at})
			t.isBusy, o.Meanwhile = false, false
		}
		switch {
		case isStart:
			runs++
			o.Number = runs
			t.runs = append(t.runs, runs)
			t.isBusy = t.isBusy || k.caller == owner && o.Verb != startUnknown
		case isAboutRun(o.Verb):
			o.Number = t.runs[len(t.runs)-1-random.IntN(min(2, len(t.runs)))]
			if o.Verb == retrieve && random.IntN(8) == 0 {
				o.Number = 1 + random.IntN(runs) // may be a run of another thread
			}
		}
		all = append(all, o)
	}
	return all
}

// isAboutRun reports whether an operation names a run that exists.
func isAboutRun(verb string) bool { return slices.Contains([]string{retrieve, join, dropJoin}, verb) }

// deploymentKinds returns the kinds of operations on a deployment.
func (h *controlPlane) deploymentKinds() (all []kind) {
	for _, verb := range []string{settle, getDeployment, getRevision, listRevisions, listRevisions} {
		all = append(all, kind{verb: verb, caller: owner})
	}
	for _, with := range h.updates() {
		all = append(all, kind{verb: update, caller: owner, with: with})
	}
	for _, caller := range h.strangers() {
		all = append(all, kind{verb: update, caller: caller}, kind{verb: listRevisions, caller: caller})
	}
	return all
}

// updates returns one update of each kind: each value of the first field, the other fields, and no field.
func (h *controlPlane) updates() []string {
	all := []string{"nothing"}
	for _, field := range h.fields {
		for _, part := range field {
			if _, isKnown := h.values[part]; isKnown {
				all = append(all, part)
			}
		}
	}
	return all
}

// sequence implements session.
func (h *controlPlane) sequence(random *rand.Rand, n int, c coverage) []Operation {
	all := []Operation{{Caller: theClient, Verb: deploy}}
	if h.target.Config.MaxDeployments == 0 && random.IntN(4) == 0 {
		all = append(all, Operation{Caller: theClient, Verb: deploy, Object: 1})
	}
	last := make([]kind, len(all))
	for i := range last {
		last[i] = kind{verb: deploy, caller: owner}
	}
	kinds := h.deploymentKinds()
	for len(all) < n {
		at := random.IntN(len(last))
		k := c.next(random, last[at], kinds)
		last[at] = k
		o := Operation{Caller: theClient, Object: at, Verb: k.verb, With: k.with, Meanwhile: random.IntN(4) == 0}
		if k.caller != owner {
			o.Caller = k.caller
		}
		switch {
		case o.Verb == update && k.caller != owner:
			o.With = cmp.Or(some(random, h.fields...), "nothing")
		case o.Verb == update && o.With != "nothing":
			if more := some(random, h.otherFields(o.With)...); more != "" {
				o.With += " and " + more
			}
		case o.Verb == getRevision:
			o.Number = 1 + random.IntN(5)
		case o.Verb == listRevisions && k.caller == owner:
			o.With = some(random, statuses, []string{"limit 1", "limit 3"}, []string{"offset 1", "offset 2"})
		}
		all = append(all, o)
	}
	return all
}

// otherFields returns the values of the fields that an update does not name.
func (h *controlPlane) otherFields(with string) [][]string {
	return slices.DeleteFunc(slices.Clone(h.fields), func(field []string) bool { return slices.Contains(field, with) })
}

// The values that updates set, by field, for a repository and for an image.
var (
	repositoryFields = [][]string{{"repo_ref 1", "repo_ref 2", "repo_ref broken", "repo_ref null"},
		{"graph_config_path 1", "graph_config_path 2", "graph_config_path null"}, {push}}
	imageFields = [][]string{{"image_uri 1", "image_uri 2", "image_uri broken", "image_uri digest", "image_uri null"}, {push}}
)

// statuses are the filters of lists.
var statuses = []string{"status DEPLOYED", "status SKIPPED", "status INTERRUPTED", "status UNKNOWN",
	"status DEPLOYED,SKIPPED", "status CREATE_FAILED,BUILD_FAILED,DEPLOY_FAILED"}

// some joins one random item from each of a few random lists.
func some(random *rand.Rand, of ...[]string) string {
	var parts []string
	for _, list := range of {
		if random.IntN(2) == 0 {
			parts = append(parts, list[random.IntN(len(list))])
		}
	}
	return strings.Join(parts, " and ")
}
