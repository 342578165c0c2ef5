package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// Lost returns the deployments at the configured control plane that runs have created more than an age ago, as their names tell, in
// the order of the list: what Clean can remove where the ledger is lost. Those whose age is not known are returned apart, by their
// names. The error says why the target could not be asked.
func Lost(ctx context.Context, c *config.Config, age time.Duration) (left []evidence.Left, ageless []string, err error) {
	t, err := target.New(target.Options{Config: c, Concurrency: 1})
	if err != nil {
		return nil, nil, err
	}
	defer t.Close() //nolint:errcheck // there is no ledger
	found, now, err := plane.New(t, nil, time.Now()).OfRuns(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("listing the deployments: %w", err)
	}
	for _, d := range found {
		switch {
		case d.Created.IsZero():
			ageless = append(ageless, d.Name)
		case now.Sub(d.Created) > age:
			left = append(left, evidence.Left{Run: d.Run, Target: c.Target, LedgerEntry: reports.LedgerEntry{
				Kind: evidence.Deployment, ID: d.ID, Address: c.Target, CreatedBy: d.Name}})
		}
	}
	return left, ageless, nil
}
