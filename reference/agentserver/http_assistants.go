package agentserver

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// assistantFields are the fields of an assistant in an answer.
var assistantFields = []string{
	"assistant_id", "graph_id", "name", "description", "config", "context", "metadata", "version", "created_at", "updated_at",
}

// assistant is a deployed graph as clients of the field expect it. Its id is the graph's name, which is what runs take
// (interface, section 4, "Agent server"); its times are those of the revision.
func (r *revision) assistant(graph string) map[string]any {
	return map[string]any{
		"assistant_id": graph, "graph_id": graph, "name": graph, "description": nil,
		"config": map[string]any{}, "context": map[string]any{}, "metadata": map[string]any{"created_by": "system"},
		"version": 1, "created_at": r.since, "updated_at": r.since,
	}
}

// assistants are the endpoints of the deployed graphs.
type assistants struct{ server *Server }

// visible are those that the user may see, in the order of their names.
func (s assistants) visible(x *exchange, action string, value map[string]any) ([]map[string]any, error) {
	d, err := s.server.allowOn(x, resourceAssistants, action, value)
	if err != nil {
		return nil, err
	}
	rev := s.server.rev.Load()
	var out []map[string]any
	for _, graph := range rev.app.Graphs() {
		if a := rev.assistant(graph); matches(a["metadata"].(map[string]any), d.Filter) {
			out = append(out, a)
		}
	}
	return out, nil
}

// assistantFilters are the fields that searching and counting share.
var assistantFilters = []string{"metadata", "graph_id", "name"}

func (s assistants) find(x *exchange, body map[string]any) ([]map[string]any, error) {
	metadata, errMetadata := objectField(body, "metadata")
	graph, errGraph := stringField(body, "graph_id")
	name, errName := stringField(body, "name")
	if err := cmp.Or(errMetadata, errGraph, errName); err != nil {
		return nil, err
	}
	all, err := s.visible(x, "search", map[string]any{"metadata": metadata, "graph_id": graph, "name": name})
	return slices.DeleteFunc(all, func(a map[string]any) bool {
		return !contains(a["metadata"], metadata) || graph != "" && a["graph_id"] != graph ||
			!strings.Contains(strings.ToLower(a["name"].(string)), strings.ToLower(name))
	}), err
}

// search is POST /assistants/search.
func (s assistants) search(x *exchange) (any, error) {
	body, err := s.server.body(x, true)
	if err != nil {
		return nil, err
	}
	err = bodyFields{fields: append([]string{"limit", "offset", "sort_by", "sort_order", "select"}, assistantFilters...)}.check(body)
	limit, errLimit := intField(body, "limit", 10, 1, 1000)
	offset, errOffset := intField(body, "offset", 0, 0, math.MaxInt32)
	by, errBy := oneOf(body, "sort_by", "created_at", "assistant_id", "graph_id", "name", "created_at", "updated_at")
	order, errOrder := oneOf(body, "sort_order", "desc", "asc", "desc")
	fields, errSelect := selectField(body, assistantFields...)
	if err := cmp.Or(err, errLimit, errOffset, errBy, errOrder, errSelect); err != nil {
		return nil, err
	}
	found, err := s.find(x, body)
	if err != nil {
		return nil, err
	}
	if order == "desc" && by != "created_at" && by != "updated_at" { // all have the same times, and one name for the rest
		slices.Reverse(found)
	}
	headPages(x.w.Header(), len(found), limit, offset)
	out := page(found, limit, offset)
	for i := range out {
		out[i] = keepFields(out[i], fields)
	}
	return out, nil
}

// count is POST /assistants/count.
func (s assistants) count(x *exchange) (any, error) {
	body, err := s.server.body(x, true)
	if err := cmp.Or(err, bodyFields{fields: assistantFilters}.check(body)); err != nil {
		return nil, err
	}
	found, err := s.find(x, body)
	if err != nil {
		return nil, err
	}
	return len(found), nil
}

// get is GET /assistants/{assistant_id}.
func (s assistants) get(x *exchange) (any, error) {
	id := x.r.PathValue("assistant_id")
	all, err := s.visible(x, "read", map[string]any{"assistant_id": id})
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if a["assistant_id"] == id {
			return a, nil
		}
	}
	return nil, httpError(http.StatusNotFound, "Assistant %q not found: POST /assistants/search lists the assistants", id)
}

// graph is GET /assistants/{assistant_id}/graph. A graph is one node, so that xray has nothing to show in addition.
func (s assistants) graph(x *exchange) (any, error) {
	xray := cmp.Or(x.r.URL.Query().Get("xray"), "false")
	_, errBool := strconv.ParseBool(xray)
	if _, errNumber := strconv.Atoi(xray); errBool != nil && errNumber != nil {
		return nil, invalid("xray must be true, false or a number")
	}
	if _, err := s.get(x); err != nil {
		return nil, err
	}
	name := x.r.PathValue("assistant_id")
	return map[string]any{
		"nodes": []any{
			map[string]any{"id": "__start__", "type": "schema", "data": "__start__"},
			map[string]any{"id": name, "type": "runnable", "data": map[string]any{"name": name}},
			map[string]any{"id": "__end__", "type": "schema", "data": "__end__"},
		},
		"edges": []any{
			map[string]any{"source": "__start__", "target": name},
			map[string]any{"source": name, "target": "__end__"},
		},
	}, nil
}

// schemas is GET /assistants/{assistant_id}/schemas: JSON Schemas of what all graphs take and give.
func (s assistants) schemas(x *exchange) (any, error) {
	if _, err := s.get(x); err != nil {
		return nil, err
	}
	messages := func(required ...string) map[string]any {
		return map[string]any{"type": "object", "required": []any{"messages"}, "properties": map[string]any{
			"messages": map[string]any{"type": "array", "items": map[string]any{
				"type": "object", "required": required, "properties": map[string]any{
					"role": map[string]any{"type": "string"}, "type": map[string]any{"type": "string"},
					"content": map[string]any{"type": []any{"string", "array"}}, "id": map[string]any{"type": "string"},
				},
			}},
		}}
	}
	return map[string]any{
		"graph_id":     x.r.PathValue("assistant_id"),
		"input_schema": messages("role", "content"), "output_schema": messages("type", "content"), "state_schema": messages("type", "content"),
		"config_schema": map[string]any{}, "context_schema": nil,
	}, nil
}

// subgraphs is GET /assistants/{assistant_id}/subgraphs: there are none.
func (s assistants) subgraphs(x *exchange) (any, error) {
	_, err := s.get(x)
	return map[string]any{}, err
}
