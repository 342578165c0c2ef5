package faults

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reference/deviate"
)

// numberedIDs shows the ids of threads and runs as numbers.
func numberedIDs() Layer {
	return fresh(func() Layer {
		n := &numbering{numbers: map[string]int{}, ids: map[string]string{}}
		return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if !oneOf(agentOperations, r) {
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
