package faults

import (
	"hash/fnv"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/fixtures"
)

// otherServers differ where the interface leaves a choice, in what rows cannot say.
func otherServers() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "statuses-are-skipped", Place: "revision status",
			Differs: "a revision is QUEUED until its final status, CREATE_FAILED for BUILD_FAILED, UNKNOWN if not the latest",
			Apply:   listing(fewStatuses),
		},
		{Name: "ids-are-numbers", Differs: "thread_id and run_id are numbers", Apply: numberedIDs()},
		{
			Name: "one-run-at-a-time", Queues: true,
			Differs: "the agent server executes one run at a time; runs of all threads wait for each other",
			Apply:   agentOptions(func(o *agentserver.Options) { o.Workers = 1 }),
		},
		{
			Name: "three-runs-at-a-time", Queues: true,
			Differs: "the agent server executes three runs at a time; other runs are pending",
			Apply:   agentOptions(func(o *agentserver.Options) { o.Workers = 3 }),
		},
		{
			Name: "runs-start-late", Queues: true,
			Differs: "the agent server executes ten runs at a time, and each starts up to 700 ms after it was accepted",
			Apply:   agentOptions(func(o *agentserver.Options) { o.Workers, o.GraphConfig = 10, startingLate(o.GraphConfig) }),
		},
		{
			Name: "null-field-is-left-out", Place: "graph user",
			Differs: "the graph receives the user object without the custom fields that are null",
			Apply: graphUsers(func(fields map[string]any) {
				maps.DeleteFunc(fields, func(_ string, value any) bool { return value == nil })
			}),
		},
		{
			Name: "branded-words", Apply: compose(branchCalled("git_host"), speaking(branded)),
			Differs: "the names that the interface shows in neutral words are a vendor's, and a branch is called git_host",
		},
		{
			Name: "branded-words-self-hosted", Edition: selfHosted, Apply: speaking(branded),
			Differs: "the names that the interface shows in neutral words are a vendor's, self-hosted",
		},
	}
}

func fewStatuses(d controlplane.Deployment, all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
	for i := range all {
		switch r := &all[i]; {
		case r.ID != d.LatestRevisionID:
			r.Status = controlplane.Unknown
		case !r.Status.Settled():
			r.Status = controlplane.Queued
		case r.Status == controlplane.BuildFailed:
			r.Status = controlplane.CreateFailed
		}
	}
	return cut(keep(all, f.Statuses), f.Page)
}

// startingLate lets each run wait before it starts, one more than the other.
func startingLate(inner func(map[string]any)) func(map[string]any) {
	var n atomic.Int64
	return func(configurable map[string]any) {
		if inner != nil {
			inner(configurable)
		}
		time.Sleep(time.Duration(n.Add(1)*270%700) * time.Millisecond)
	}
}

var (
	idsInAnswers     = regexp.MustCompile(`"(thread_id|run_id)":"([^"]+)"`)
	numbersInRequest = regexp.MustCompile(`\d{16}`)
)

// numberedIDs shows the ids of threads and runs as numbers of 16 digits.
func numberedIDs() Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		ids := func(text, quote string) string {
			return numbersInRequest.ReplaceAllStringFunc(text, func(number string) string {
				if id, known := m.marked(number).(string); known {
					return quote + id + quote
				}
				return number
			})
		}
		if path := ids(r.URL.Path, ""); path != r.URL.Path {
			r = withPath(r, path)
		}
		setBody(r, []byte(ids(string(readBody(r)), `"`)))
		a := deviate.Capture(next, r)
		a.Body = idsInAnswers.ReplaceAllFunc(a.Body, func(member []byte) []byte {
			found := idsInAnswers.FindSubmatch(member)
			sum := fnv.New64a()
			_, _ = sum.Write(found[2]) // it returns no error
			number := strconv.FormatUint(sum.Sum64()>>12|1<<51, 10)
			m.mark(number, string(found[2]))
			return []byte(`"` + string(found[1]) + `":` + number)
		})
		a.Send(w)
	})
}

// branded are the names of a vendor for those that the interface shows in neutral words.
var branded = map[string]string{
	"git_host": "kilnhub", "external_container": "kiln_image", "internal_container": "kiln_bundle",
	"graph_config_path": "kiln_config_path", "graph_auth_user": "kiln_auth_user",
}

// speaking serves the reference with other neutral words, and knows the interface's own no longer.
func speaking(words map[string]string) Layer {
	renamed := func(place, from, to string) []string {
		return []string{
			place + ".[source=" + from + "].source = " + to,
			"rename " + place + ".source_revision_config " + from + " " + to,
		}
	}
	var unknown, asked, shown []string
	for ours, theirs := range words {
		unknown = append(unknown, renamed("request", ours, "not_"+ours)...)
		asked = append(asked, renamed("request", theirs, ours)...)
		shown = append(shown, renamed("each.*", ours, theirs)...)
	}
	return compose(
		telling(func(set *fixtures.Set) { set.Vocabulary = words }),
		changing([]string{"create-deployment or update-deployment"}, slices.Concat(unknown, asked)...),
		changing([]string{"every control-plane"}, shown...),
	)
}

// branchCalled serves the main branch under another name.
func branchCalled(name string) Layer {
	const config, main = "source_revision_config", fixtures.MainBranch
	return compose(
		telling(func(set *fixtures.Set) {
			object(set.Create[config])["repo_ref"] = name
			set.CommitIDs = maps.Clone(set.CommitIDs)
			set.CommitIDs[name] = set.CommitIDs[main]
		}),
		changing([]string{"create-deployment or update-deployment"}, "request."+config+".[repo_ref="+name+"].repo_ref = "+main),
		changing([]string{"every control-plane"}, "each.*."+config+".[repo_ref="+main+"].repo_ref = "+name),
	)
}

// telling changes what a harness is told, after what other layers change.
func telling(change func(*fixtures.Set)) Layer {
	return func(o *reference.Options) {
		inner := o.WrapFixtures
		o.WrapFixtures = func(set *fixtures.Set) {
			if inner != nil {
				inner(set)
			}
			change(set)
		}
	}
}
