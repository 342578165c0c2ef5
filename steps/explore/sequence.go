package explore

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
)

// maxThreads is how many threads a sequence has.
const maxThreads = 3

func (h *agentServer) sequence(random *rand.Rand, n int) (all []Operation) {
	for at := range 1 + random.IntN(maxThreads) {
		all = append(all, Operation{Caller: random.IntN(min(len(h.callers), second+1)), Verb: create, Object: at})
	}
	threads, of := len(all), []int{} // the thread of each run
	for len(all) < n {
		o := Operation{Verb: ofThreads[random.IntN(len(ofThreads))], Object: random.IntN(threads)}
		switch {
		case slices.Contains(starts, o.Verb):
			of = append(of, o.Object)
			o.Number = len(of)
		case (o.Verb == retrieve || o.Verb == join) && len(of) > 0:
			o.Number = 1 + random.IntN(len(of))
			if random.IntN(8) > 0 {
				o.Object = of[o.Number-1]
			}
		}
		own := []string{await, list, startUnknown}
		if o.Caller = all[o.Object].Caller; !slices.Contains(own, o.Verb) && random.IntN(6) == 0 {
			o.Caller = random.IntN(len(h.callers))
		}
		o.Meanwhile = o.Verb != await && random.IntN(4) == 0
		all = append(all, o)
	}
	return all
}

// ofThreads and ofDeployments are what may be done with one, as often as it is to be done.
var (
	ofThreads = []string{readState, readState, start, start, start, startWaiting, startWaiting, rollBack, rollBack,
		rollWaiting, startUnknown, await, await, await, await, retrieve, retrieve, retrieve, join, join, list}
	ofDeployments = []string{update, update, update, update, settle, getDeployment, getRevision, getRevision,
		listRevisions, listRevisions}
)

func (h *controlPlane) sequence(random *rand.Rand, n int) []Operation {
	all := []Operation{{Caller: theClient, Verb: deploy}}
	if h.target.Config.MaxDeployments == 0 && random.IntN(4) == 0 {
		all = append(all, Operation{Caller: theClient, Verb: deploy, Object: 1})
	}
	for deployments := len(all); len(all) < n; {
		o := Operation{Caller: theClient, Object: random.IntN(deployments)}
		o.Verb = ofDeployments[random.IntN(len(ofDeployments))]
		switch o.Verb {
		case update:
			o.With = cmp.Or(some(random, h.fields...), "nothing")
		case getRevision:
			o.Number = 1 + random.IntN(5)
		case listRevisions:
			o.With = some(random, statuses, []string{"limit 1", "limit 3"}, []string{"offset 1", "offset 2"})
		}
		o.Meanwhile = random.IntN(4) == 0
		all = append(all, o)
	}
	return all
}

// settable is what updates set, by whether the source is a git_host.
var settable = map[bool][][]string{
	true: {{"repo_ref 1", "repo_ref 2", "repo_ref broken", "repo_ref null"},
		{"graph_config_path 1", "graph_config_path 2", "graph_config_path null"}, {push}},
	false: {{"image_uri 1", "image_uri 2", "image_uri broken", "image_uri null"}, {push}},
}

// statuses are those that lists are filtered by.
var statuses = []string{"status DEPLOYED", "status SKIPPED", "status INTERRUPTED", "status UNKNOWN",
	"status DEPLOYED,SKIPPED", "status CREATE_FAILED,BUILD_FAILED,DEPLOY_FAILED"}

// some joins one each of some of the lists.
func some(random *rand.Rand, of ...[]string) string {
	var parts []string
	for _, list := range of {
		if random.IntN(2) == 0 {
			parts = append(parts, list[random.IntN(len(list))])
		}
	}
	return strings.Join(parts, " and ")
}
