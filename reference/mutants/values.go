package mutants

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode"
)

// decoded reads a JSON value with numbers as written.
func decoded(text []byte) (value any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return value, decoder.Decode(&value) == nil
}

// slot is a member of an object that stands at a place.
type slot struct {
	object map[string]any
	name   string
	owner  string // what the value belongs to: the ids on the way to it
}

func (s slot) value() any   { return s.object[s.name] }
func (s slot) set(to any)   { s.object[s.name] = to }
func (s slot) remove() bool { delete(s.object, s.name); return true }

// slots finds the members at a place in a value.
func slots(value any, at place, owner string) (all []slot) {
	switch value := value.(type) {
	case []any:
		if len(at) > 0 && at[0] == "*" {
			for _, item := range value {
				all = append(all, slots(item, at[1:], owner)...)
			}
		}
	case map[string]any:
		if len(at) == 0 || at[0] == "*" {
			return nil
		}
		for _, name := range []string{"id", "thread_id", "run_id"} {
			if id, is := value[name].(string); is {
				owner += " " + id
			}
		}
		member, has := value[at[0]]
		if !has {
			return nil
		}
		if len(at) == 1 {
			return []slot{{value, at[0], owner}}
		}
		return slots(member, at[1:], owner)
	}
	return all
}

// another is a value of the same type that is a little different.
func another(value any) any {
	switch v := value.(type) {
	case bool:
		return !v
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n + 1
		}
	case string:
		return anotherText(v)
	case []any:
		if len(v) > 0 {
			return v[:len(v)-1]
		}
	case map[string]any:
		return map[string]any{}
	}
	return value
}

// anotherText changes the last digit or small letter, so that an id stays an id and a time a time; a capital where there is none.
func anotherText(text string) string {
	at := strings.LastIndexAny(text, "0123456789abcdefghijklmnopqrstuvwxyz")
	if at < 0 {
		at = strings.LastIndexAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	}
	if at < 0 {
		return text + "x"
	}
	for _, other := range []byte("1aA") {
		if same := unicode.IsDigit(rune(text[at])) == unicode.IsDigit(rune(other)) && unicode.IsUpper(rune(text[at])) == unicode.IsUpper(rune(other)); same {
			if text[at] == other {
				other++
			}
			return text[:at] + string(other) + text[at+1:]
		}
	}
	return text
}

// memory holds the values that a place had, by owner. It is for concurrent use.
type memory struct {
	mu     sync.Mutex
	values map[string][]any // of each owner, the last two that differ
	order  []string         // owners, as they came
	late   map[string]int   // how many answers have shown the old value since it changed
}

func newMemory() *memory { return &memory{values: map[string][]any{}, late: map[string]int{}} }

// saw enters a value. It returns the one before it, and whether there is one.
func (m *memory) saw(owner string, value any) (before any, changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.values[owner]
	if len(known) == 0 {
		m.order = append(m.order, owner)
	}
	if len(known) == 0 || !reflect.DeepEqual(known[len(known)-1], value) {
		known = append(known, value)
		m.late[owner] = 0
	}
	known = known[max(0, len(known)-2):]
	m.values[owner] = known
	if len(known) < 2 {
		return nil, false
	}
	return known[0], true
}

// once tells whether the owner's value is shown for the first time since it changed.
func (m *memory) once(owner string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.late[owner]++
	return m.late[owner] == 1
}

// ofAnother returns the newest value of somebody else which differs.
func (m *memory) ofAnother(owner string, value any) (other any, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := len(m.order) - 1; i >= 0; i-- {
		if m.order[i] == owner {
			continue
		}
		known := m.values[m.order[i]]
		if last := known[len(known)-1]; !reflect.DeepEqual(last, value) {
			return last, true
		}
	}
	return nil, false
}
