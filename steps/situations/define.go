package situations

import (
	"context"

	"github.com/agentconform/agentconform/steps/common"
)

// DefineThreads registers the steps about threads on which something has happened, for one scenario.
func (s *Situations) DefineThreads(r *common.Definitions) {
	var event string
	var found map[string]error
	r.Given(threadPrefix+`(.+)`, func(name string) error {
		event = name
		return nil
	})
	r.When(`the thread is used again`, func(ctx context.Context) (err error) {
		found, err = s.Use(ctx, event, false)
		return err
	})
	r.When(`a run is rolled back on it`, func(ctx context.Context) (err error) {
		found, err = s.Use(ctx, event, true)
		return err
	})
	for _, check := range ThreadChecks {
		r.Then(check.Step, func() error { return found[check.Step] })
	}
}

// DefineDeployments registers the steps about deployments to which something has happened, for one scenario.
func (s *Situations) DefineDeployments(r *common.Definitions) {
	var event string
	var found map[string]error
	r.Given(deploymentPrefix+`(.+)`, func(name string) error {
		event = name
		return nil
	})
	r.When(`the deployment is used again`, func(ctx context.Context) (err error) {
		found, err = s.UseDeployment(ctx, event)
		return err
	})
	for _, check := range DeploymentChecks {
		r.Then(check.Step, func() error { return found[check.Step] })
	}
}
