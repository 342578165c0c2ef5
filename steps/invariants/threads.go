package invariants

import (
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// newThreads finds threads that were created with the id of an earlier thread (section 4). A client that sends an id may
// request the existing thread.
type newThreads struct {
	created map[string]bool // by the address of the server and the id
}

func (n *newThreads) check(t *tally, s *seen) {
	if s.Op.ID != "create-thread" || !s.ok() {
		return
	}
	id := s.response.Get("thread_id").String()
	key := s.Base + " " + exchange.IDKey(id)
	again := n.created[key]
	n.created[key] = true
	isUnknown := s.Request != "" && !s.request.Exists() // not all of the body was recorded
	if id == "" || isUnknown || s.RepeatedWrite || s.request.Get("thread_id").Exists() {
		return
	}
	t.judged++
	if again {
		t.violated(s, outcome.WrongValue, "/thread_id", "POST of a thread returns the thread_id of another thread",
			"a new thread_id", id+", which another thread has")
	}
}
