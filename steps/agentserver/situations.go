package agentserver

import (
	"context"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/situations"
)

// defineSituations registers the sentences about threads on which something has happened. Package situations brings it
// about and judges the thread.
func (w *World) defineSituations(r *common.Definitions) {
	all := &situations.Situations{Target: w.target, Plane: w.plane, Agents: w.agents}
	var event string
	var outcomes map[string]error
	r.Given(`a thread on which (.+)`, func(name string) error {
		event = name
		return nil
	})
	r.When(`the thread is used again`, func(ctx context.Context) (err error) {
		outcomes, err = all.Use(ctx, event, false)
		return err
	})
	r.When(`a run is rolled back on it`, func(ctx context.Context) (err error) {
		outcomes, err = all.Use(ctx, event, true)
		return err
	})
	for _, check := range situations.Checks {
		r.Then(check.Sentence, func() error { return outcomes[check.Sentence] })
	}
}
