package target

import (
	"context"

	"github.com/agentconform/agentconform/steps/exchange"
)

// SeparateCallers gives each caller connections that no other caller uses, if the server takes the caller from the
// connection: a request without credentials then has another status on a connection that has served a caller than on a new
// one. Without this, the fault of CP-AUTH-1, AS-AUTH-1 or AS-AUTHZ-1 would show in almost every requirement.
func (t *Target) SeparateCallers(ctx context.Context, known, anonymous exchange.Request) {
	if !known.Trusted || len(known.Header) == 0 {
		return
	}
	one := t.Client.OneConnection(ctx)
	if _, err := t.Client.Do(one, known); err != nil {
		return
	}
	same, err := t.Client.Do(one, anonymous)
	if err != nil || t.Rejects(anonymous.Side, same.Status) {
		return
	}
	other, err := t.Client.Do(t.Client.OneConnection(ctx), anonymous)
	if err == nil && other.Status != same.Status {
		t.Client.SeparateCallers()
	}
}
