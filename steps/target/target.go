package target

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/shared"
)

// Target is the server under test. It may be used by many goroutines.
type Target struct {
	Config    *config.Config
	Client    *client.Client
	Redact    *client.Redactor
	Collector *evidence.Collector // nil where nothing is judged
	Ledger    *evidence.Ledger    // nil where nothing is created
	RunID     string              // in the names of what is created
	Part      int                 // of a run that was broken off, from 2; 0: it was not. In the names too, so that each is used once
	Fixtures  Fixtures            // nil where the suite serves none
	Progress  func(Event)

	refusing  atomic.Int64           // status with which the agent server refuses callers without credentials, where that is known
	called    shared.Set[string]     // addresses of agent servers that were called
	underTest atomic.Pointer[string] // that of the one that is judged
	searches  atomic.Bool            // threads were seen to be listed with the search endpoint only

	renewing sync.Mutex
	renewed  atomic.Pointer[config.Config] // with credentials that were read again; nil while there are none

	mu     sync.Mutex
	serial map[string]int // of names, by purpose
	notes  []reports.Note
}

// Options say what is done with the target.
type Options struct {
	Config      *config.Config
	Concurrency int    // requests in flight, about
	RunID       string // "" where nothing is created
	Part        int    // 0 for a new run, from 2 for one that goes on where it was broken off
	Fixtures    Fixtures
	Progress    func(Event)

	// Evidence is kept where the oracle is given.
	Oracle     *spec.Oracle
	Journal    evidence.Journal
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
		Config: o.Config, RunID: o.RunID, Part: o.Part, Fixtures: o.Fixtures, Progress: o.Progress, serial: map[string]int{},
		Redact: client.NewRedactor(o.Config.Secrets()),
		Client: toTarget,
	}
	if every := o.Config.Every(); every > 0 {
		t.Client.Limit = rate.NewLimiter(rate.Every(every), 1)
	}
	t.Client.ReadOnly = o.Config.ReadOnly
	t.Redact.Add(environmentProxies())
	t.noteConnection()
	t.Client.Vocabulary, _ = spec.NewVocabulary(o.Config.Vocabulary) // the configuration was validated
	if o.Oracle == nil {
		return t, nil
	}
	open := evidence.OpenLedger
	if o.Part > 0 {
		open = evidence.ResumeLedger
	}
	ledger, err := open(o.LedgerFile, o.RunID, o.Config.Target)
	if err != nil {
		return nil, err
	}
	t.Ledger = ledger
	t.Collector = evidence.New(o.Oracle, t.Redact, o.Journal, o.Start)
	if err := t.Collector.Translate(t.Client.Vocabulary); err != nil {
		return nil, err
	}
	t.Collector.TenantHeader = http.CanonicalHeaderKey(o.Config.CredentialHeaders.TenantID)
	t.Collector.Via, t.Collector.Gateway = o.Config.Connection(), gatewayNames(o.Config)
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

// JudgeAgentAt sets the URL of the agent server that the run tests, as the control plane returned it.
func (t *Target) JudgeAgentAt(base string) {
	t.underTest.Store(&base)
	t.Progress(Event{Kind: Named, Name: base})
}

// CallsAgentAt notes that the agent server at the address is called.
func (t *Target) CallsAgentAt(base string) { t.called.Add(base) }

// AgentRefuses says that the agent server refuses callers without credentials, with which status.
func (t *Target) AgentRefuses(status int) { t.refusing.Store(int64(status)) }

// AgentRefusal is the status with which the agent server refuses callers without credentials, where no user is configured
// and the server was seen to refuse: what needs no user is judged then. 0 otherwise.
func (t *Target) AgentRefusal() int {
	if len(t.Config.Users) > 0 {
		return 0
	}
	return int(t.refusing.Load())
}

// AgentAddress is the address of the agent server under test, "" while it is not known.
func (t *Target) AgentAddress() string {
	if found := t.underTest.Load(); found != nil {
		return *found
	}
	return t.Config.AgentTarget
}

// Bases returns the addresses of a side, longer ones first: one may be below another.
func (t *Target) Bases(side spec.Side) []string {
	if side == spec.ControlPlane {
		return []string{t.Config.Target}
	}
	all := t.called.All()
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// NamePrefix begins the name of everything that runs create.
const NamePrefix = "agentconform-"

// MarkKey is the key of a thread's metadata that holds such a name, where a scenario gives its threads one.
const MarkKey = "agentconform"

// named is what Name makes: the run's id has eight hexadecimal digits, and a number where it is a replay or was resumed.
var named = regexp.MustCompile(`^` + NamePrefix + `([0-9a-f]{8})(?:-[0-9]+)?-[a-z]+(?:-[a-z]+)*-[0-9]+$`)

// RunOf returns the id of the run that gave a name, "" where no run did.
func RunOf(name string) string {
	if m := named.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// Name makes a name for something that the run creates: it carries the run's id and is used once.
func (t *Target) Name(purpose string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serial[purpose]++
	run := t.RunID
	if t.Part > 0 {
		run = fmt.Sprintf("%s-%d", run, t.Part)
	}
	return fmt.Sprintf(NamePrefix+"%s-%s-%d", run, purpose, t.serial[purpose])
}
