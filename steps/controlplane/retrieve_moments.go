package controlplane

import (
	"context"
	"strings"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
)

// defineMoments holds the sentences that compare what was seen at one moment with what is seen at another.
func (w *retrieval) defineMoments(r *common.Definitions) {
	r.Then(`each has the "created_at" of its first read`, func() error { return w.Plane.CreatedAsAtFirst(w.Answers) })
	r.When(`the client retrieves the deployment several times`, w.clientRetrievesOften)
	r.Then(`whenever "latest_revision_id" names the new revision, "source_revision_config" holds the values of the update`, w.configFollowsLatest)
}

// clientRetrievesOften reads several times: what a target caches or reads from copies is not wrong at every read.
func (w *retrieval) clientRetrievesOften(ctx context.Context) error {
	const times = 6
	for range times {
		if err := w.ClientRetrieves(ctx); err != nil {
			return err
		}
	}
	return nil
}

// configFollowsLatest judges each deployment that names the new revision, the first one after the update included:
// one answer is not to hold the id of the one revision and the configuration of another (section 2).
func (w *retrieval) configFollowsLatest() error {
	answers := w.Answers
	if first := w.Deployment.Naming; first != nil {
		answers = append([]*client.Answer{first}, answers...)
	}
	compared := 0
	for _, a := range answers {
		if !strings.EqualFold(a.Get("latest_revision_id").String(), w.Deployment.Latest()) {
			continue
		}
		compared++
		w.Scene.Answer = a
		if err := w.ConfigAsUpdated(); err != nil {
			return err
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("latest_revision_id never names the new revision")
	}
	return nil
}
