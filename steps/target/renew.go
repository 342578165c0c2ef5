package target

import (
	"maps"
	"net/http"
	"reflect"
	"slices"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// present is the configuration with the credentials as they are now: files of credentials may have been read again.
func (t *Target) present() *config.Config {
	if c := t.renewed.Load(); c != nil {
		return c
	}
	return t.Config
}

// reread reads the files of credentials again. What is new is known to the redactor before it is sent.
func (t *Target) reread() {
	t.renewing.Lock()
	defer t.renewing.Unlock()
	if changed := t.present().Reread(); changed != nil {
		t.Redact.Add(changed.Secrets())
		t.renewed.Store(changed)
	}
}

// renews lets a request with valid credentials be sent once more where it was refused and a file has other credentials by now, read
// again at once or for another request.
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
		if !slices.Contains(refusals, a.Status) {
			return nil, false
		}
		t.reread()
		header := sent.Clone()
		maps.Copy(header, credentials())
		maps.Copy(header, t.gateway(asked))
		return header, !reflect.DeepEqual(header, sent)
	}
}
