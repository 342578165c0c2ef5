package faults

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/google/uuid"
)

// otherAgents differ where the interface leaves the agent server a choice.
func otherAgents() []EquivalentMutant {
	return []EquivalentMutant{
		{Name: "ids-are-numbers", Differs: "thread_id and run_id are numbers", Apply: numberedIDs()},
		{
			Name: "one-run-at-a-time", Queues: true, Differs: "the agent server executes one run at a time; runs of all threads wait for each other",
			Apply: agentOptions(func(o *agentserver.Options) { o.Workers = 1 }),
		},
		{
			Name: "three-runs-at-a-time", Queues: true, Differs: "the agent server executes three runs at a time; other runs are pending",
			Apply: agentOptions(func(o *agentserver.Options) { o.Workers = 3 }),
		},
		{
			Name: "runs-start-late", Queues: true, Differs: "the agent server executes ten runs at a time, and each starts up to 700 ms after it was accepted",
			Apply: agentOptions(func(o *agentserver.Options) { o.Workers, o.GraphConfig = 10, startingLate(o.GraphConfig) }),
		},
		{
			Name: "list-is-a-page-of-a-busy-user", Place: "thread list", Differs: "list threads returns ten threads; those of other clients push every second new one out",
			Apply: onStatus(listThreads, http.StatusOK, pageOfABusyUser),
		},
		{
			Name: "null-field-is-left-out", Place: "graph user", Differs: "the graph receives the user object without the custom fields that are null",
			Apply: graphUsers(func(fields map[string]any) {
				maps.DeleteFunc(fields, func(_ string, value any) bool { return value == nil })
			}),
		},
	}
}

// pageOfABusyUser shows about half of the threads, chosen by their ids, and makes a page of ten with what others have created.
func pageOfABusyUser(_ *http.Request, a *deviate.Answer) {
	list, ok := deviate.Value(a.Body).([]any)
	if !ok || len(list) == 0 {
		return
	}
	page := slices.DeleteFunc(slices.Clone(list), func(thread any) bool {
		sum := fnv.New32a()
		fmt.Fprint(sum, text(object(thread), "thread_id"))
		return sum.Sum32()%2 == 0
	})
	for len(page) < 10 {
		others := maps.Clone(object(list[0]))
		others["thread_id"] = uuid.NewString()
		page = append(page, others)
	}
	a.JSON(page[:10])
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

// numberedIDs shows the ids of threads and runs as numbers.
func numberedIDs() Layer {
	return fresh(func() Layer {
		n := &numbering{numbers: map[string]int{}, ids: map[string]string{}}
		return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if !slices.ContainsFunc(agentOperations, func(op operation) bool { return op.is(r) }) {
				next.ServeHTTP(w, r)
				return
			}
			parts := strings.Split(r.URL.Path, "/")
			for i := range parts {
				parts[i] = n.id(parts[i])
			}
			r = withPath(r, strings.Join(parts, "/"))
			if searchThreads.is(r) {
				editBody(r, n.search)
			}
			a := deviate.Capture(next, r)
			if value := deviate.Value(a.Body); value != nil {
				a.Body, _ = json.Marshal(n.shown(value)) // it was decoded from JSON
			}
			a.Send(w)
		})
	})
}

// numbering maps ids to numbers.
type numbering struct {
	mu      sync.Mutex
	numbers map[string]int
	ids     map[string]string // by number
}

// id returns the id of a number. An unknown number is returned unchanged.
func (n *numbering) id(number string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id := n.ids[number]; id != "" {
		return id
	}
	return number
}

func (n *numbering) number(id string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.numbers[id] == 0 {
		n.numbers[id] = 700_000_000 + len(n.numbers)
		n.ids[strconv.Itoa(n.numbers[id])] = id
	}
	return n.numbers[id]
}

func (n *numbering) search(body map[string]any) {
	list, _ := body["ids"].([]any)
	for i, item := range list {
		if number, is := item.(json.Number); is {
			list[i] = n.id(number.String())
		}
	}
}

// shown replaces ids at any depth.
func (n *numbering) shown(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = n.shown(value[i])
		}
	case map[string]any:
		for key, item := range value {
			if id, is := item.(string); is && id != "" && (key == "thread_id" || key == "run_id") {
				value[key] = n.number(id)
			} else {
				value[key] = n.shown(item)
			}
		}
	}
	return value
}
