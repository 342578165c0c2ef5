package target

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// renewal is a configuration whose credentials may be read again from their files. Its zero value is ready for use.
type renewal struct {
	reading sync.Mutex
	latest  atomic.Pointer[config.Config] // nil while nothing has changed
}

// present is the configuration with the credentials as they are now; first is the one that was loaded.
func (r *renewal) present(first *config.Config) *config.Config {
	if c := r.latest.Load(); c != nil {
		return c
	}
	return first
}

// reread reads the files of credentials again. What is new is known to the redactor before it is sent.
func (r *renewal) reread(first *config.Config, redact *client.Redactor) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if changed := r.present(first).Reread(); changed != nil {
		redact.Add(changed.Secrets())
		r.latest.Store(changed)
	}
}

// present is the configuration with the credentials as they are now: files of credentials may have been read again.
func (t *Target) present() *config.Config { return t.renewal.present(t.Config) }

// renews lets a request with valid credentials be sent with those that were read last, and once more where it was refused and a file has
// other credentials by now, read again at once or for another request.
func (t *Target) renews(r *client.Request, credentials func() http.Header) {
	if len(t.Config.SecretFiles) == 0 {
		return
	}
	refusals := []int{http.StatusUnauthorized, http.StatusForbidden}
	if r.Side == spec.AgentServer {
		refusals = append(refusals, t.Config.Agent.RejectedStatus)
	}
	sent, asked := r.Header, *r
	r.Renew = func(a *client.Answer) (http.Header, bool) {
		if a != nil {
			if !slices.Contains(refusals, a.Status) {
				return nil, false
			}
			t.renewal.reread(t.Config, t.Redact)
		}
		before := sent
		sent = before.Clone()
		maps.Copy(sent, credentials())
		maps.Copy(sent, t.gateway(asked))
		return sent, !reflect.DeepEqual(before, sent)
	}
}
