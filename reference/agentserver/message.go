package agentserver

import (
	"fmt"
	"maps"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

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
	if id == "" {
		id = threads.NewID()
	}
	delete(extra, "id")
	delete(extra, "content")
	return threads.Message{ID: id, Type: typ, Content: content, Extra: extra}, nil
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
