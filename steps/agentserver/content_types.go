package agentserver

import (
	"context"
	"net/http"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// defineContentTypes registers the steps about the Content-Type of requests (section 4).
func (w *World) defineContentTypes(r *common.Definitions) {
	r.When(`the user sends the request to (create a thread|start a run) with Content-Type "([^"]+)"`, w.userSendsType)
}

// userSendsType sends a request with a Content-Type. If it is refused, the request is sent with its usual type, and
// then once more with it, because a server may also refuse requests at random.
func (w *World) userSendsType(ctx context.Context, operation, contentType string) error {
	send := w.postThread
	if operation == "start a run" {
		send = w.postRun
	}
	a, err := send(ctx, contentType)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	w.scene.Response = a
	if a.OK() {
		return nil
	}
	w.scene.Without, err = send(ctx, "")
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	w.scene.Response, err = send(ctx, contentType)
	return outcome.AsPrecondition(err)
}

func (w *World) postRun(ctx context.Context, contentType string) (*exchange.Response, error) {
	g, err := w.server.Post(ctx, w.thread, agent.Order{Type: contentType})
	if err != nil {
		return nil, err
	}
	if contentType == "" && g.ID != "" {
		_, err = w.server.Join(ctx, w.owner(), g) // so that the next run on the thread is not refused
	}
	return g.Response, err
}

// postThread creates a thread and enters it in the ledger.
func (w *World) postThread(ctx context.Context, contentType string) (*exchange.Response, error) {
	if contentType == "" {
		t, err := w.server.CreateThread(ctx, w.owner(), nil)
		if err != nil {
			return nil, err
		}
		return t.Response, nil
	}
	request := w.target.ToAgent(w.server.Base, w.owner(), http.MethodPost, agent.ThreadsPath, map[string]any{})
	request.Header.Set("Content-Type", contentType)
	request.Wrong = true // so that no other requirement judges the status
	a, err := w.target.Client.Do(ctx, request)
	if err != nil || !a.OK() {
		return a, err
	}
	return a, w.server.NoteThread(ctx, &agent.Thread{Owner: w.owner(), Response: a, ID: a.Get("thread_id").String()})
}
