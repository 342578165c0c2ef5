package html

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// operationFinder finds the operation of an exchange. The result names the operations with their
// methods and path templates; addresses may have any base, so that templates are compared with the end of a path.
type operationFinder []operationTemplate

type operationTemplate struct {
	id, method string
	segments   []string
	literals   int
}

func newOperationFinder(operations []reports.OperationCoverage) operationFinder {
	var f operationFinder
	for _, o := range operations {
		t := operationTemplate{id: o.Operation, method: o.Method, segments: strings.Split(strings.Trim(o.Path, "/"), "/")}
		for _, s := range t.segments {
			if !strings.HasPrefix(s, "{") {
				t.literals++
			}
		}
		f = append(f, t)
	}
	// The most specific first: /threads/search before /threads/{thread_id}, both before /threads.
	slices.SortStableFunc(f, func(a, b operationTemplate) int {
		if n := len(b.segments) - len(a.segments); n != 0 {
			return n
		}
		return b.literals - a.literals
	})
	return f
}

// find returns the id of the operation, or "".
func (f operationFinder) find(method, address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	if at := strings.IndexAny(address, "?#"); at >= 0 {
		address = address[:at]
	}
	path := strings.Split(strings.TrimRight(address, "/"), "/")
	for _, t := range f {
		if t.method == method && t.matches(path) {
			return t.id
		}
	}
	return ""
}

func (t operationTemplate) matches(path []string) bool {
	if len(path) <= len(t.segments) { // the host comes before
		return false
	}
	for i, got := range path[len(path)-len(t.segments):] {
		if want := t.segments[i]; got != want && !strings.HasPrefix(want, "{") {
			return false
		}
	}
	return true
}
