package reference_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reference"
)

// kept is a deployment or a thread, as its writer knows it.
type kept struct {
	path    string   // of the deployment at the control plane, or of the thread at the built-in agent
	below   []string // ids of revisions or runs that were acknowledged
	texts   []string // of runs that have ended
	leaving bool     // its removal was sent
	left    bool     // and acknowledged
}

// writers change a reference until it is killed. Each has things of its own, so that the order of their changes is known.
type writers struct {
	url, key, token, assistant string
	create, update             map[string]any
	http                       *http.Client

	mu   sync.Mutex
	all  []*kept
	acks int
}

// send returns an answer, or nothing where none came.
func (w *writers) send(method, path string, body any) (status int, answer gjson.Result) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, answer
	}
	r, err := http.NewRequest(method, w.url+path, bytes.NewReader(text))
	if err != nil {
		return 0, answer
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", w.key)
	if w.token != "" && path[:min(len(path), 8)] == "/agents/" {
		r.Header.Del("X-Api-Key")
		r.Header.Set("Authorization", "Bearer "+w.token)
	}
	a, err := w.http.Do(r)
	if err != nil {
		return 0, answer
	}
	defer a.Body.Close()
	document, err := io.ReadAll(a.Body)
	if err != nil || !json.Valid(document) && len(document) > 0 {
		return 0, answer // it was cut off: not acknowledged
	}
	return a.StatusCode, gjson.ParseBytes(document)
}

// acknowledged notes a change.
func (w *writers) acknowledged(note func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	note()
	w.acks++
}

const agentPath = "/agents/conformance"

// write is what one writer does until no more answers come.
func (w *writers) write(number int) {
	var own []*kept
	for n := 0; ; n++ {
		x := &kept{}
		switch {
		case n%3 == 0 && number%2 == 0:
			status, d := w.send("POST", "/v2/deployments", w.create)
			if status != http.StatusCreated {
				return
			}
			x.path, x.below = "/v2/deployments/"+d.Get("id").String(), []string{d.Get("latest_revision_id").String()}
		case n%3 == 0:
			status, thread := w.send("POST", agentPath+"/threads", map[string]any{})
			if status != http.StatusOK {
				return
			}
			x.path = agentPath + "/threads/" + thread.Get("thread_id").String()
		case n%3 == 1 && !w.grow(own[len(own)-1], number, n), n%9 == 5 && !w.remove(own[0]):
			return
		}
		if x.path != "" {
			own = append(own, x)
			w.acknowledged(func() { w.all = append(w.all, x) })
		}
		if own[0].left {
			own = own[1:]
		}
	}
}

// grow adds a revision or a run, and says whether that was acknowledged.
func (w *writers) grow(x *kept, number, n int) bool {
	if number%2 == 0 {
		status, d := w.send("PATCH", x.path, w.update)
		if status != http.StatusOK {
			return false
		}
		w.acknowledged(func() { x.below = append(x.below, d.Get("latest_revision_id").String()) })
		return true
	}
	text := fmt.Sprintf("text %d of %d", n, number)
	status, run := w.send("POST", x.path+"/runs", map[string]any{"assistant_id": w.assistant, "input": map[string]any{"messages": []any{map[string]any{"role": "user", "content": text}}}})
	if status != http.StatusOK {
		return false
	}
	id := run.Get("run_id").String()
	w.acknowledged(func() { x.below = append(x.below, id) })
	if status, _ := w.send("GET", x.path+"/runs/"+id+"/join", nil); status != http.StatusOK {
		return false
	}
	w.acknowledged(func() { x.texts = append(x.texts, text) })
	return true
}

func (w *writers) remove(x *kept) bool {
	w.mu.Lock()
	x.leaving = true
	w.mu.Unlock()
	status, _ := w.send("DELETE", x.path, nil)
	if status != http.StatusNoContent && status != http.StatusOK {
		return false
	}
	w.acknowledged(func() { x.left = true })
	return true
}

// check compares all that was ever acknowledged with what a reference knows.
func (w *writers) check(t *testing.T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.all {
		status, whole := w.send("GET", x.path, nil)
		if x.left {
			assert.Equal(t, http.StatusNotFound, status, "%s was removed", x.path)
		}
		if x.leaving {
			if status == http.StatusNotFound {
				continue
			}
		}
		require.Equal(t, http.StatusOK, status, "%s: %s", x.path, whole.Raw)
		list := "/runs"
		if x.path[:4] == "/v2/" {
			list = "/revisions"
			latest := whole.Get("latest_revision_id").String()
			status, _ := w.send("GET", x.path+"/revisions/"+latest, nil)
			assert.Equal(t, http.StatusOK, status, "the latest revision of %s", x.path)
		}
		for _, id := range x.below {
			status, one := w.send("GET", x.path+list+"/"+id, nil)
			assert.Equal(t, http.StatusOK, status, "%s%s/%s: %s", x.path, list, id, one.Raw)
		}
		if len(x.texts) == 0 {
			continue
		}
		_, state := w.send("GET", x.path+"/state", nil)
		var texts []string
		for _, m := range state.Get("values.messages").Array() {
			texts = append(texts, m.Get("content").String())
		}
		for _, text := range x.texts {
			assert.True(t, slices.Contains(texts, text), "%q of a run that has ended is not in %v of %s", text, texts, x.path)
		}
	}
}

// TestNothingAcknowledgedIsLostByKillsAmongWriters kills a reference again and again while many write, and compares all that was
// acknowledged, in every round, with what the next one knows.
func TestNothingAcknowledgedIsLostByKillsAmongWriters(t *testing.T) {
	folder := t.TempDir()
	first := start(t, reference.Options{DataDir: folder})
	set := first.server.Fixtures()
	require.NoError(t, first.server.Close())
	w := &writers{
		key: set.Owner.APIKey, token: set.Users[0].Token, assistant: set.AssistantID, create: set.Create,
		update: map[string]any{"source_revision_config": map[string]any{"repo_ref": set.SecondRef}},
		http:   &http.Client{Timeout: limit, Transport: &http.Transport{MaxIdleConnsPerHost: 16}},
	}
	const rounds, each = 3, 40
	for round := range rounds {
		url, kill := victim(t, folder)
		w.url = url
		w.check(t)
		var all sync.WaitGroup
		for number := range 6 {
			all.Go(func() { w.write(number) })
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		w.await(ctx, each+37*round%each) // at another place each time
		require.NoError(t, ctx.Err(), "the writers have stopped")
		cancel()
		kill()
		all.Wait()
		w.http.CloseIdleConnections()
	}
	after := start(t, reference.Options{DataDir: folder})
	w.url = after.url
	w.check(t)
	deployments, threads, removed := 0, 0, 0
	for _, x := range w.all {
		switch {
		case x.left:
			removed++
		case x.path[:4] == "/v2/":
			deployments++
		default:
			threads++
		}
	}
	t.Logf("%d acknowledged changes: %d deployments, %d threads, %d removed", w.acks, deployments, threads, removed)
	for _, n := range []int{deployments, threads, removed} {
		assert.Positive(t, n)
	}
}

// await waits until so many more changes were acknowledged.
func (w *writers) await(ctx context.Context, more int) {
	acks := func() int { w.mu.Lock(); defer w.mu.Unlock(); return w.acks }
	for end := acks() + more; acks() < end && ctx.Err() == nil; time.Sleep(tick) {
	}
}
