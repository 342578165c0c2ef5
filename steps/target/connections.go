package target

import (
	"context"

	"github.com/agentconform/agentconform/steps/exchange"
)

// SeparateCallers tests whether the server takes the caller from the connection: a request without credentials then has a
// different status on a used connection than on a new one. If so, it gives each caller separate connections. Otherwise
// the fault of CP-AUTH-1, AS-AUTH-1 or AS-AUTHZ-1 would make almost every requirement fail.
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
