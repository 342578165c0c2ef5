package prover

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/replay"
)

// startPristine starts the references against which replayed findings must pass.
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

// replay replays the findings of the fault's requirement. Against the faulty server at least one must still fail (others may
// pass: it may be a race), against the unmodified reference all must pass, and at a closed port or with wrong credentials all must be
// inconclusive. It returns how many findings had the expected verdict against all four.
func (p *prover) replay(ctx context.Context, t trial, faulty *config.Config, result *reports.Result) (n int, problem string) {
	findings, err := replay.Find(result, t.row.Fails)
	if err != nil {
		return 0, err.Error()
	}
	if t.once {
		again := config.Default()
		stop, err := t.start(ctx, &again)
		if err != nil {
			return 0, "restart failed: " + err.Error()
		}
		defer stop()
		if err := hurry(&again); err != nil {
			return 0, err.Error()
		}
		faulty = &again
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
		{"a closed port", &dead, reports.Inconclusive},
		{"the reference with wrong credentials", &wrong, reports.Inconclusive},
		{"the reference", pristine, reports.Passed},
		{"the faulty server", faulty, reports.Failed},
	} {
		o := p.options(at.cfg)
		o.ID = uuid.NewString()[:8] // several replay against one reference, and each removes what has its name
		answers, _, err := replay.Judge(ctx, o, result, findings)
		if err != nil {
			return 0, "replay: " + err.Error()
		}
		n = 0
		for _, a := range answers {
			if a.Verdict == at.want {
				n++
			} else if problem = fmt.Sprintf("replay against %s: verdict is %s, expected %s: %s (%s)", at.place, a.Verdict, at.want, a.Reason, a.Finding.Summary); at.cfg != faulty {
				return 0, problem
			}
		}
	}
	if n > 0 {
		problem = ""
	}
	return n, problem
}
