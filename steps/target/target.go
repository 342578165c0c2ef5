package target

import (
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
)

// Target is the server under test. It may be used by many goroutines.
type Target struct {
	Config    *config.Config
	Client    *client.Client
	Redact    *client.Redactor
	Collector *evidence.Collector // nil where nothing is judged
	Ledger    *evidence.Ledger    // nil where nothing is created
	RunID     string              // in the names of what is created
	Fixtures  Fixtures            // nil where the suite serves none
	Progress  func(Event)

	agentsSeen
	renewal renewal // of credentials that are in files
	names   names   // that were given
	notes   notes
}

// Options say what is done with the target.
type Options struct {
	Config      *config.Config
	Concurrency int    // requests in flight
	RunID       string // "" where nothing is created
	Fixtures    Fixtures
	Progress    func(Event)

	// Evidence is kept where the oracle is given.
	Oracle     *spec.Oracle
	Journal    reports.Recorder
	Start      time.Time
	LedgerFile string // "": in memory only
}

// New returns the target of a configuration. The error says why the ledger could not be opened, or which file of the connection
// cannot be used.
func New(o Options) (*Target, error) {
	if o.Progress == nil {
		o.Progress = func(Event) {}
	}
	toTarget, err := clientOf(o)
	if err != nil {
		return nil, err
	}
	t := &Target{
		Config: o.Config, RunID: o.RunID, Fixtures: o.Fixtures, Progress: o.Progress,
		Redact: client.NewRedactor(o.Config.Secrets(), o.Config.Common()...),
		Client: toTarget,
	}
	if every := o.Config.Every(); every > 0 {
		t.Client.Limit = rate.NewLimiter(rate.Every(every), 1)
	}
	t.Client.ReadOnly = o.Config.ReadOnly
	t.Redact.Add(environmentProxies())
	t.noteConfiguration()
	t.Client.Words = o.Config.Vocabulary
	if o.Oracle == nil {
		return t, nil
	}
	ledger, err := evidence.OpenLedger(o.LedgerFile, o.RunID, o.Config.Target)
	if err != nil {
		return nil, err
	}
	t.Ledger = ledger
	t.Collector = evidence.New(o.Oracle, t.Redact, o.Journal, o.Start)
	t.Collector.Translate(t.Client.Words)
	t.Collector.ReachedBy(evidence.Reach{TenantHeader: http.CanonicalHeaderKey(o.Config.CredentialHeaders.TenantID), Gateway: gatewayNames(o.Config),
		Via: o.Config.Connection()})
	t.Client.Observe = t.Collector.Observe
	t.Client.Throttled = func(asked time.Duration, granted bool) {
		t.Collector.Waited(granted)
		t.Progress(Event{Kind: Throttled, Elapsed: asked, Refused: !granted})
	}
	return t, nil
}

// Close closes the connections and the ledger.
func (t *Target) Close() error {
	t.Client.Close()
	if t.Ledger == nil {
		return nil
	}
	return t.Ledger.Close()
}

// Address is that of the control plane, or of the agent server where only that is configured.
func (t *Target) Address() string {
	if t.Config.Target != "" {
		return t.Config.Target
	}
	return t.Config.AgentTarget
}

// Sides are the halves of the interface of which something may be judged.
func (t *Target) Sides() []spec.Side {
	if t.Config.Target == "" {
		return []spec.Side{spec.AgentServer}
	}
	return []spec.Side{spec.ControlPlane, spec.AgentServer}
}
