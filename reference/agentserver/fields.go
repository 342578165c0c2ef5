package agentserver

import (
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/google/uuid"
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

func uuidField(body map[string]any, name string) (string, error) {
	s, err := stringField(body, name)
	if s == "" || err != nil {
		return "", err
	}
	u, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return "", invalid("%s must be a uuid", name)
	}
	return u.String(), nil
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
		u, err := uuid.Parse(s)
		if err != nil || len(s) != 36 {
			return nil, invalid("%s must be an array of uuids", name)
		}
		out[u.String()] = true
	}
	return out, nil
}

// intField reads a whole number between two bounds.
func intField(body map[string]any, name string, otherwise, lowest, highest int) (int, error) {
	switch v := body[name].(type) {
	case nil:
		return otherwise, nil
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil && n >= lowest && n <= highest {
			return n, nil
		}
	}
	return 0, invalid("%s must be a whole number from %d to %d", name, lowest, highest)
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
