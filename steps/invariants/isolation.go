package invariants

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
)

// longEnough is how many bytes a text must have to be looked for within others. What is shorter may stand there by chance.
const longEnough = 12

// isolation holds answers to one user free of what belongs to another (section 5): the ids of their threads and runs, their texts.
type isolation struct {
	users map[string]*belongings // by the key of their credentials
	order []string
	tally
}

// belongings are what a user has created or sent.
type belongings struct {
	ids   map[string]bool   // of threads and runs, as answers gave them
	texts map[string]string // that the user sent, at least longEnough, and as JSON writes them
	sent  strings.Builder   // all request bodies: what a user has sent, the user may see
}

func newIsolation() *isolation { return &isolation{users: map[string]*belongings{}} }

func (r *isolation) of(key string) *belongings {
	b := r.users[key]
	if b == nil {
		b = &belongings{ids: map[string]bool{}, texts: map[string]string{}}
		r.users[key] = b
		r.order = append(r.order, key)
	}
	return b
}

func (r *isolation) note(s *seen) {
	if s.side != spec.AgentServer || !strings.HasPrefix(s.caller.name, "users.") {
		return
	}
	b := r.of(s.caller.name)
	b.sent.WriteString(s.exchange.Request.Body + "\n")
	if !s.ok() {
		return
	}
	switch s.op.ID {
	case "create-thread":
		b.owns(s.answer.Get("thread_id"))
	case "create-run":
		b.owns(s.answer.Get("run_id"))
		for _, m := range s.sentAs("input", "messages").Array() {
			if text := m.Get("content"); text.Type == gjson.String && len(text.Str) >= longEnough {
				b.texts[text.Str] = written(text.Str)
			}
		}
	}
}

// owns notes an id. An empty one names nothing.
func (b *belongings) owns(id gjson.Result) {
	if (id.Type == gjson.String || id.Type == gjson.Number) && id.String() != "" {
		b.ids[id.String()] = true
	}
}

// written is a text as JSON writes it, without the quotes.
func written(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted[1 : len(quoted)-1])
}

func (r *isolation) check(s *seen) {
	if s.side != spec.AgentServer || s.caller.name == "" && s.caller.kind == someCredentials || s.caller.name != "" && !strings.HasPrefix(s.caller.name, "users.") {
		return // such as a studio user, who may see everything
	}
	if s.caller.name == "" && s.ok() {
		return // that it was served at all is another invariant's concern
	}
	body := s.exchange.Response.Body
	for _, key := range r.order {
		if key == s.caller.name {
			continue
		}
		other := r.users[key]
		r.judged++
		for id := range other.ids {
			if !r.knows(s, id) && holdsID(s.answer, body, id) {
				r.violated(s, "", "an answer to one caller holds an id of another user", "nothing of another user", "the id "+id+" of "+key)
			}
		}
		for text, json := range other.texts {
			if (strings.Contains(body, text) || strings.Contains(body, json)) && !r.knows(s, text) {
				r.violated(s, "", "an answer to one caller holds a text of another user", "nothing of another user", "the text "+text+" of "+key)
			}
		}
	}
}

// knows tells whether the caller owns the id or has sent the text, or the request itself carries it.
func (r *isolation) knows(s *seen, what string) bool {
	if carries(s, what) {
		return true
	}
	own := r.users[s.caller.name]
	return own != nil && (own.ids[what] || strings.Contains(own.sent.String(), what) || strings.Contains(own.sent.String(), written(what)))
}

// carries tells whether a request holds the text in its address or its body.
func carries(s *seen, what string) bool {
	return strings.Contains(s.exchange.URL, what) || strings.Contains(s.exchange.Request.Body, what) || strings.Contains(s.exchange.Request.Body, written(what))
}

// holdsID tells whether an answer holds the id: a long one anywhere, a short one as thread_id or run_id.
func holdsID(answer gjson.Result, body, id string) bool {
	if len(id) >= longEnough {
		return strings.Contains(body, id)
	}
	return strings.Contains(body, id) && namesID(answer, id)
}

func namesID(value gjson.Result, id string) (found bool) {
	if !value.IsObject() && !value.IsArray() {
		return false
	}
	value.ForEach(func(key, item gjson.Result) bool {
		found = (key.Str == "thread_id" || key.Str == "run_id") && item.String() == id || namesID(item, id)
		return !found
	})
	return found
}
