package agentserver

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// page is a part of a list.
func page[T any](all []T, limit, offset int) []T {
	from := min(offset, len(all))
	return append([]T{}, all[from:min(from+limit, len(all))]...)
}

// headPages tells in the headers how many resources match, and at which offset the next page begins, if there is one.
func headPages(h http.Header, total, limit, offset int) {
	h.Set("X-Pagination-Total", strconv.Itoa(total))
	if offset+limit < total {
		h.Set("X-Pagination-Next", strconv.Itoa(offset+limit))
	}
}

// listThreads is GET /threads.
func (s *Server) listThreads(x *exchange) (any, error) {
	query := queryNumbers(x.r.URL.Query(), "limit", "offset")
	limit, errLimit := intField(query, "limit", 100, 1, 1000)
	offset, errOffset := intField(query, "offset", 0, 0, math.MaxInt32)
	if err := cmp.Or(errLimit, errOffset); err != nil {
		return nil, err
	}
	found, err := s.findThreads(x, threadQuery{limit: limit, offset: offset})
	return page(found, limit, offset), err
}

// threadQuery is what threads a caller asks for. The zero value asks for all.
type threadQuery struct {
	ids              map[string]bool // nil: any
	metadata, values map[string]any  // what these contain
	status           string          // empty: any
	limit, offset    int
}

// filters are the fields of a threadQuery that searching and counting share.
var filters = []string{"metadata", "values", "status"}

func (q *threadQuery) read(body map[string]any) (err error) {
	var errMetadata, errValues error
	q.metadata, errMetadata = objectField(body, "metadata")
	q.values, errValues = objectField(body, "values")
	q.status, err = oneOf(body, "status", "", threads.ThreadStatuses()...)
	return cmp.Or(errMetadata, errValues, err)
}

// findThreads lists all threads that match both what the caller asks for and what the caller may see, newest first.
func (s *Server) findThreads(x *exchange, q threadQuery) ([]threads.Thread, error) {
	if q.metadata == nil {
		q.metadata = map[string]any{}
	}
	if q.values == nil {
		q.values = map[string]any{}
	}
	d, err := s.allow(x, "search", map[string]any{
		"metadata": q.metadata, "values": q.values, "status": q.status, "limit": q.limit, "offset": q.offset,
	})
	if err != nil {
		return nil, err
	}
	found, err := s.store.Threads(x.r.Context(), func(t threads.Thread) bool {
		return matches(t.Metadata, d.Filter) && contains(t.Metadata, q.metadata) &&
			(q.ids == nil || q.ids[t.ID]) && (q.status == "" || t.Status == q.status)
	})
	if err != nil || len(q.values) == 0 {
		return found, err
	}
	var out []threads.Thread
	for _, t := range found {
		state, err := s.store.State(x.r.Context(), t.ID)
		if err != nil && !errors.Is(err, threads.ErrNotFound) { // one that was deleted meanwhile does not match
			return nil, err
		}
		if err == nil && contains(plainValues(state), q.values) {
			out = append(out, t)
		}
	}
	return out, nil
}

// plainValues are the values of a state as JSON has them.
func plainValues(state threads.State) map[string]any {
	values := state.Values()
	if _, ok := values["messages"]; ok {
		list := make([]any, len(state.Messages))
		for i, m := range state.Messages {
			list[i] = m.Fields()
		}
		values["messages"] = list
	}
	return values
}

// searchThreads is POST /threads/search. The threads are sorted by their creation, newest first, where sort_by does not say
// otherwise. Each has the fields that select names, and its thread_id.
func (s *Server) searchThreads(x *exchange) (any, error) {
	body, err := s.body(x, true)
	if err != nil {
		return nil, err
	}
	err = bodyFields{
		fields: append([]string{"ids", "limit", "offset", "sort_by", "sort_order", "select"}, filters...),
		known:  map[string]string{"extract": "take what is needed from the values of the threads"},
	}.check(body)
	q := threadQuery{}
	errQuery := q.read(body)
	var errLimit, errOffset, errIDs error
	q.limit, errLimit = intField(body, "limit", 10, 1, 1000)
	q.offset, errOffset = intField(body, "offset", 0, 0, math.MaxInt32)
	q.ids, errIDs = uuidsField(body, "ids")
	by, errBy := oneOf(body, "sort_by", "created_at", "thread_id", "status", "created_at", "updated_at")
	order, errOrder := oneOf(body, "sort_order", "desc", "asc", "desc")
	fields, errSelect := selectField(body, threadFields...)
	if err := cmp.Or(err, errQuery, errLimit, errOffset, errIDs, errBy, errOrder, errSelect); err != nil {
		return nil, err
	}
	found, err := s.findThreads(x, q)
	if err != nil {
		return nil, err
	}
	sortThreads(found, by, order)
	headPages(x.w.Header(), len(found), q.limit, q.offset)
	if fields != nil {
		fields = append(fields, "thread_id") // which a thread always has (interface, section 2)
	}
	out := []map[string]any{}
	for _, t := range page(found, q.limit, q.offset) {
		var state threads.State
		if fields == nil || slices.Contains(fields, "values") {
			state, err = s.store.State(x.r.Context(), t.ID)
			if errors.Is(err, threads.ErrNotFound) {
				continue // it was deleted meanwhile
			}
			if err != nil {
				return nil, err
			}
		}
		out = append(out, keepFields(view(t, state.Values()), fields))
	}
	return out, nil
}

func sortThreads(list []threads.Thread, by, order string) {
	slices.SortStableFunc(list, func(a, b threads.Thread) int {
		if order == "desc" {
			a, b = b, a
		}
		switch by {
		case "thread_id":
			return strings.Compare(a.ID, b.ID)
		case "status":
			return strings.Compare(a.Status, b.Status)
		case "updated_at":
			return a.UpdatedAt.Compare(b.UpdatedAt)
		}
		return a.CreatedAt.Compare(b.CreatedAt)
	})
}

// countThreads is POST /threads/count: the number of threads that a search for the same would find.
func (s *Server) countThreads(x *exchange) (any, error) {
	body, err := s.body(x, true)
	if err != nil {
		return nil, err
	}
	q := threadQuery{}
	errQuery := q.read(body)
	if err := cmp.Or(bodyFields{fields: filters}.check(body), errQuery); err != nil {
		return nil, err
	}
	found, err := s.findThreads(x, q)
	if err != nil {
		return nil, err
	}
	return len(found), nil
}
