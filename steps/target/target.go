// Package target is what is known of the server under test, as one value: its configuration, the client that speaks
// to it, the evidence of what it answered, the ledger of what was created there, and the names that the run uses.
// Runs, doctor, replay and clean all use it whole.
//
// It makes requests and knows who sends them (sections 4 and 5 of the interface); what is asked in which order is for
// packages plane and agent.
package target

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	Seed      int64               // of the jitter of polls
	Fixtures  Fixtures            // nil where the suite serves none
	Progress  func(Event)

	// What was seen of the agent servers, where the configuration does not say it.
	refusing  atomic.Int64           // status with which callers without credentials are refused, where that is known
	underTest atomic.Pointer[string] // that of the one that is judged
	searches  atomic.Bool            // threads were seen to be listed with the search endpoint only

	mu     sync.Mutex
	serial map[string]int // of the names that were given, by purpose
	notes  []reports.Note

	reading sync.Mutex
	latest  atomic.Pointer[config.Config] // with credentials that were read again; nil while nothing has changed
}

// Options say what is done with the target.
type Options struct {
	Config      *config.Config
	Concurrency int    // requests in flight
	RunID       string // "" where nothing is created
	Seed        int64  // of the jitter of polls
	Fixtures    Fixtures
	Progress    func(Event)
	Dial        client.Dial // connects to the target; nil means the network of the system

	// Evidence is kept where the oracle is given.
	Oracle     *spec.Oracle
	Start      time.Time
	LedgerFile string // "": in memory only
}

// New returns the target of a configuration. The error says why the ledger could not be opened, or which file of the
// connection cannot be used.
func New(o Options) (*Target, error) {
	c := o.Config
	if o.Progress == nil {
		o.Progress = func(Event) {}
	}
	route, err := routeOf(c)
	if err != nil {
		return nil, err
	}
	route.Dial = o.Dial
	t := &Target{Config: c, RunID: o.RunID, Seed: o.Seed, Fixtures: o.Fixtures, Progress: o.Progress,
		Redact: client.NewRedactor(c.Secrets(), c.Common()...), Client: client.New(max(o.Concurrency, 1), route)}
	if every := c.Every(); every > 0 {
		t.Client.Limit = rate.NewLimiter(rate.Every(every), 1)
	}
	t.Client.ReadOnly, t.Client.Words = c.ReadOnly, c.Vocabulary
	t.Redact.Add(environmentProxies())
	t.noteConfiguration()
	if o.Oracle == nil {
		return t, nil
	}
	if t.Ledger, err = evidence.OpenLedger(o.LedgerFile, o.RunID, c.Target); err != nil {
		return nil, err
	}
	reached := evidence.Reach{TenantHeader: http.CanonicalHeaderKey(c.CredentialHeaders.TenantID),
		Gateway: gatewayNames(c), Via: c.Connection()}
	t.Collector = evidence.New(o.Oracle, t.Redact, o.Start, t.Client.Words, reached)
	t.Client.Observe = t.Collector.Observe
	t.Client.Throttled = func(asked time.Duration, granted bool) {
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
func (t *Target) Address() string { return cmp.Or(t.Config.Target, t.Config.AgentTarget) }

// Sides are the halves of the interface of which something may be judged.
func (t *Target) Sides() []spec.Side {
	if t.Config.Target == "" {
		return []spec.Side{spec.AgentServer}
	}
	return []spec.Side{spec.ControlPlane, spec.AgentServer}
}

// MarkKey is the key of a thread's metadata that holds such a name, where a scenario gives its threads one.
const MarkKey = "agentconform"

// Name makes a name for something that the run creates: it carries the run's id and is used once.
func (t *Target) Name(purpose string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.serial == nil {
		t.serial = map[string]int{}
	}
	t.serial[purpose]++
	return fmt.Sprintf("agentconform-%s-%s-%d", t.RunID, purpose, t.serial[purpose])
}

// Note adds a note to the result. One of the same kind and text is added once; the first exchange stays.
func (t *Target) Note(n reports.Note) {
	n.Text = t.Redact.Text(n.Text)
	t.mu.Lock()
	defer t.mu.Unlock()
	isKnown := func(known reports.Note) bool { return known.Kind == n.Kind && known.Text == n.Text }
	if !slices.ContainsFunc(t.notes, isKnown) {
		t.notes = append(t.notes, n)
	}
}

// Notes returns what was noted, in a stable order.
func (t *Target) Notes() []reports.Note {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedStableFunc(slices.Values(t.notes), func(a, b reports.Note) int {
		return strings.Compare(string(a.Kind)+" "+a.Text, string(b.Kind)+" "+b.Text)
	})
}

// noteConfiguration notes what of the connection and of the secrets a reader of the result has to know.
func (t *Target) noteConfiguration() {
	if told := t.Config.ShortSecrets(); told != "" {
		t.Note(reports.Note{Kind: reports.NoteSecret, Text: told})
	}
	if t.Config.TLS.Insecure {
		t.Note(reports.Note{Kind: reports.NoteInsecure, Text: "tls.insecure is true: no certificate was verified, so the " +
			"answers may not be those of the target, and the credentials may have been read; set tls.ca instead"})
	}
}

// EventKind says what happened in a run.
type EventKind int

// The events of a run.
const (
	Planned   EventKind = iota // the run begins; Total scenarios are selected
	Started                    // a scenario begins
	Ended                      // a scenario has its verdict
	Polled                     // a revision's status was read
	Throttled                  // the target asked the client to wait
	Exploring                  // all scenarios have ended, and random sequences are sent
	Named                      // the control plane has named the agent server that is judged
)

// Event is shown to people who watch a run.
type Event struct {
	Kind    EventKind
	Name    string // of the target, the scenario, or the revision that is polled; the address that was named
	Text    string // the requirement of a scenario, the status of a revision
	Verdict reports.Verdict
	Decides bool // the requirement of a scenario counts as MUST
	Reason  string
	// BlockedBy is what kept a scenario from being judged: many have one cause.
	BlockedBy []reports.Blocker
	Total     int
	Seed      int64
	// Deployments is how many deployments the selected scenarios are going to create at most.
	Deployments int
	Elapsed     time.Duration // since a poll began; or for how long the target asked the client to wait
	Left        time.Duration // for how long the revision is polled at most from now on
	Over        bool          // the poll has ended
	Refused     bool          // the client does not wait, because that is longer than it may
}
