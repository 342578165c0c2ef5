package invariants

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestThreadsWithTheSameID(t *testing.T) {
	for _, row := range []struct {
		name, request, response string
		status                  int
		fails                   bool
	}{
		{"another id", `{}`, `{"thread_id":"` + two + `"}`, 200, false},
		{"the id of the first", `{}`, `{"thread_id":"` + one + `"}`, 200, true},
		{"the id that the client names", `{"thread_id":"` + one + `"}`, `{"thread_id":"` + one + `"}`, 200, false},
		{"a refusal", `{}`, `{"detail":"Try again."}`, 429, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHistory(t)
			h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, `{"thread_id":"`+one+`"}`)
			h.agent(h.target.Owner(), "POST", "/threads", row.request, row.status, row.response)
			_, o := h.judged(`no new thread has the thread_id of another thread`)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}
