package prover

import (
	"context"
	"fmt"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/replay"
)

// startPristine starts the references at which findings must pass when they are judged again.
func (p *prover) startPristine(ctx context.Context) (stop func(), err error) {
	var servers []*reference.Server
	stop = func() {
		for _, s := range servers {
			_ = s.Close() // its data is temporary
		}
	}
	p.pristine = map[string]*config.Config{}
	if !p.Replay {
		return stop, nil
	}
	for _, edition := range []string{config.Cloud, config.SelfHosted} {
		server, err := reference.Start(ctx, reference.Options{Edition: edition})
		if err != nil {
			stop()
			return nil, err
		}
		servers = append(servers, server)
		cfg := config.Default()
		p.Describe(&cfg, server)
		if err := hurry(&cfg); err != nil {
			stop()
			return nil, err
		}
		p.pristine[edition] = &cfg
	}
	return stop, nil
}

// replay judges the requirement's findings again: at the faulty server they must still fail, at the reference as it is
// they must pass, and nothing must be told where nobody answers or the credentials are wrong.
func (p *prover) replay(ctx context.Context, faulty *config.Config, result *reports.Result, requirement string) (n int, problem string) {
	findings, err := replay.Find(result, requirement)
	if err != nil {
		return 0, err.Error()
	}
	pristine := p.pristine[faulty.Edition]
	dead, wrong := *pristine, *pristine
	dead.Target = "http://127.0.0.1:1"
	wrong.Credentials = config.Credentials{APIKey: "wrong", TenantID: "00000000-0000-4000-8000-000000000000", Bearer: "wrong"}
	for _, at := range []struct {
		place string
		cfg   *config.Config
		want  reports.Verdict
	}{
		{"the faulty server", faulty, reports.Failed},
		{"the reference", pristine, reports.Passed},
		{"a dead port", &dead, reports.Inconclusive},
		{"the reference with wrong credentials", &wrong, reports.Inconclusive},
	} {
		answers, _, err := replay.Judge(ctx, p.options(at.cfg), result, findings)
		if err != nil {
			return 0, "replay: " + err.Error()
		}
		for _, a := range answers {
			if a.Verdict != at.want {
				return 0, fmt.Sprintf("replay at %s: %s, not %s: %s (%s)", at.place, a.Verdict, at.want, a.Reason, a.Finding.Summary)
			}
		}
	}
	return len(findings), ""
}
