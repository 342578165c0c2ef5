package agentserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// The readers of optional fields of a body. A null is the same as an absent field.

func stringField(body map[string]any, name string) (string, error) {
	switch v := body[name].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	return "", invalid("%s must be a string", name)
}

func objectField(body map[string]any, name string) (map[string]any, error) {
	switch v := body[name].(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return v, nil
	}
	return nil, invalid("%s must be an object", name)
}

// parseID reads a uuid in its usual form of 36 characters.
func parseID(s string) (string, bool) {
	u, err := uuid.Parse(s)
	return u.String(), err == nil && len(s) == 36
}

func uuidsField(body map[string]any, name string) (map[string]bool, error) {
	list, ok := body[name].([]any)
	if !ok {
		if body[name] == nil {
			return nil, nil
		}
		return nil, invalid("%s must be an array of uuids", name)
	}
	out := map[string]bool{}
	for _, v := range list {
		s, _ := v.(string)
		id, ok := parseID(s)
		if !ok {
			return nil, invalid("%s must be an array of uuids", name)
		}
		out[id] = true
	}
	return out, nil
}

// intField reads an integer between two bounds.
func intField(body map[string]any, name string, otherwise, lowest, highest int) (int, error) {
	switch v := body[name].(type) {
	case nil:
		return otherwise, nil
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil && n >= lowest && n <= highest {
			return n, nil
		}
	}
	return 0, invalid("%s must be an integer from %d to %d", name, lowest, highest)
}

// queryNumbers makes fields of a body out of query parameters.
func queryNumbers(q url.Values, names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		if q.Has(name) {
			out[name] = json.Number(q.Get(name))
		}
	}
	return out
}

// onlyFields refuses the first field, in alphabetical order, that is not read: one that is silently ignored would
// answer another question than the one that was asked. Clients send the options that they know with values that ask for
// nothing, which are taken.
func onlyFields(body map[string]any, fields ...string) error {
	for _, name := range slices.Sorted(maps.Keys(body)) {
		if !slices.Contains(fields, name) && !asksForNothing(body[name]) {
			return invalid("%s is not a field of this request: the fields are %s", name, strings.Join(fields, ", "))
		}
	}
	return nil
}

// asksForNothing tells whether a value is null, false, 0, or empty.
func asksForNothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case json.Number:
		return v == "0"
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// messageTypes are the types of messages by the roles and types that clients and graphs use.
var messageTypes = map[string]string{
	"user": "human", "human": "human",
	"assistant": "ai", "ai": "ai",
	"system": "system", "developer": "system",
	"tool": "tool", "function": "tool",
}

// maxContentDepth bounds the nesting of what clients send: it is walked again and again.
const maxContentDepth = 32

// parseMessage reads a message as clients and graphs write it: with a role or a type, and a content.
func parseMessage(v any, defaultType string) (threads.Message, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return threads.Message{}, fmt.Errorf("a message is an object with role and content")
	}
	extra := maps.Clone(fields)
	typ := defaultType
	for _, key := range []string{"type", "role"} {
		given, ok := fields[key]
		delete(extra, key)
		if !ok {
			continue
		}
		name, _ := given.(string)
		if typ = messageTypes[name]; typ == "" {
			return threads.Message{}, fmt.Errorf("%s is none of user, human, assistant, ai, system, tool", key)
		}
	}
	if typ == "" {
		return threads.Message{}, fmt.Errorf("a message has a role")
	}
	content, ok := fields["content"]
	switch content.(type) {
	case string, []any:
	default:
		ok = false
	}
	if !ok {
		return threads.Message{}, fmt.Errorf("the content of a message is a string or an array")
	}
	id, _ := fields["id"].(string)
	delete(extra, "id")
	delete(extra, "content")
	return threads.Message{ID: cmp.Or(id, threads.NewID()), Type: typ, Content: content, Extra: extra}, nil
}

// depth is how deeply a JSON value is nested.
func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			deepest = max(deepest, depth(x))
		}
	case map[string]any:
		for _, x := range v {
			deepest = max(deepest, depth(x))
		}
	default:
		return 0
	}
	return deepest + 1
}
