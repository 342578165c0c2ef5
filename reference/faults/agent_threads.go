package faults

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/deviate"
)

func agentThreads() []Fault {
	return []Fault{
		{
			Name: "one-thread-per-user", Breaks: "create thread returns the user's existing thread instead of a new one", Fails: "AS-THREAD-1",
			Apply: oneThreadEach(),
		},
		{
			Name: "list-lags-behind", Breaks: "threads created in the last minute are missing from list threads", Fails: "AS-THREAD-2", Hangs: true,
			Apply: agentStoring(func(s threads.Store) threads.Store { return oldThreads{s, time.Minute} }),
		},
	}
}

// oneThreadEach answers create thread with the caller's first thread.
func oneThreadEach() Layer {
	return fresh(func() Layer {
		var mu sync.Mutex
		first := map[string][]byte{}
		return onStatus(createThread, http.StatusOK, func(r *http.Request, a *deviate.Answer) {
			mu.Lock()
			defer mu.Unlock()
			key := segment(r, 2) + " " + r.Header.Get("Authorization")
			if first[key] == nil {
				first[key] = a.Body
			}
			a.Body = first[key]
		})
	})
}

// oldThreads lists only threads of at least the given age.
type oldThreads struct {
	threads.Store
	age time.Duration
}

func (s oldThreads) Threads(ctx context.Context, match func(threads.Thread) bool) ([]threads.Thread, error) {
	return s.Store.Threads(ctx, func(t threads.Thread) bool { return time.Since(t.CreatedAt) > s.age && match(t) })
}
