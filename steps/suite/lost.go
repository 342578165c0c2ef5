package suite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// lost are things that runs have left and no ledger names.
type lost struct {
	older   time.Duration
	left    []evidence.Left
	ageless []string // names of those whose age is not known
}

// Lost returns what runs have created at the configured target more than an age ago, as names tell that runs give, in the order of the
// lists: deployments of the control plane, and threads of the configured agent server that have a name in their metadata. Clean can
// remove it. The names of those whose age is not known are returned apart. The error says why the target could not be asked.
func Lost(ctx context.Context, c *config.Config, older time.Duration) (left []evidence.Left, ageless []string, err error) {
	t, err := target.New(target.Options{Config: c, Concurrency: 1})
	if err != nil {
		return nil, nil, err
	}
	defer t.Close() //nolint:errcheck // there is no ledger
	l := &lost{older: older}
	maker := shared.NewMaker(ctx, nil)
	defer maker.Wait()
	p := plane.New(t, maker, time.Now())
	if c.Target != "" {
		if err := l.deployments(ctx, p, c.Target); err != nil {
			return nil, nil, fmt.Errorf("listing the deployments: %w", err)
		}
	}
	if c.AgentTarget != "" {
		if err := l.threads(ctx, t, agent.New(t, p, maker)); err != nil {
			return nil, nil, fmt.Errorf("listing the threads: %w", err)
		}
	}
	return l.left, l.ageless, nil
}

func (l *lost) add(name string, age time.Duration, known bool, e evidence.Left) {
	switch {
	case !known:
		l.ageless = append(l.ageless, e.Kind+" "+name)
	case age > l.older:
		e.CreatedBy = name
		l.left = append(l.left, e)
	}
}

func (l *lost) deployments(ctx context.Context, p *plane.Plane, address string) error {
	found, now, err := p.OfRuns(ctx)
	for _, d := range found {
		l.add(d.Name, now.Sub(d.Created), !d.Created.IsZero(), evidence.Left{Run: d.Run, Target: address,
			LedgerEntry: reports.LedgerEntry{Kind: evidence.Deployment, ID: d.ID, Address: address}})
	}
	return err
}

// threads lists those of each user. Metadata and created_at of a thread are vendor extensions.
func (l *lost) threads(ctx context.Context, t *target.Target, agents *agent.Agents) error {
	server, err := agents.AgentServer(ctx)
	if err != nil {
		return err
	}
	owners := []target.Caller{t.Owner()}
	for i := 1; i < len(t.Config.Users); i++ {
		owners = append(owners, t.CallerWith(fmt.Sprintf("users.%d", i)))
	}
	for _, owner := range owners {
		rows, a, err := server.List(ctx, owner, nil)
		if err != nil {
			return err
		}
		if agent.RowsOf(a) == nil { // the last page, if there are several
			return fmt.Errorf("%s %s%s: %s; without a list of threads those of lost runs cannot be found", a.Request.Method, server.Base, a.Request.Path, t.Redact.Excerpt(outcome.SeenShort(a)))
		}
		for _, row := range rows {
			name, id := row.Get("metadata."+target.MarkKey).String(), row.Get("thread_id").String()
			run := target.RunOf(name)
			if run == "" || slices.Contains([]string{"", ".", ".."}, id) { // these are no segment of a path
				continue
			}
			created, err := time.Parse(time.RFC3339, row.Get("created_at").String())
			l.add(name, a.Clock().Sub(created), err == nil, evidence.Left{Run: run, Target: t.Config.Target,
				LedgerEntry: reports.LedgerEntry{Kind: evidence.Thread, ID: id, Address: server.Base, Owner: t.CredentialKey(owner)}})
		}
	}
	return nil
}
