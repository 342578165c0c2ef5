// Package target represents the server under test as one value: its configuration, the client, the recorded exchanges,
// the ledger of created objects, and the names that the test run uses. Test runs, doctor, replay and clean use it. Start
// with [Target].
//
// It builds requests and knows their senders (sections 4 and 5 of the interface). Packages plane and agent decide which
// requests are sent, and in which order.
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

// Target is the server under test. It is safe for concurrent use.
type Target struct {
	Config    *config.Config
	Client    *client.Client
	Redact    *client.Redactor
	Collector *evidence.Collector // nil if nothing is judged
	Ledger    *evidence.Ledger    // nil if nothing is created
	RunID     string              // part of the names of created objects
	Seed      int64               // seed of the jitter of polls
	Fixtures  Fixtures            // nil if the suite serves none
	Progress  func(Event)
	Recorded  bool   // other clients sent the recorded requests, perhaps not all of them, for unknown purposes
	Server    Server // nil if the suite did not start the target

	// The fields below are facts about the agent server that are not in the configuration.
	refusing  atomic.Int64           // status of refusals without credentials; 0 if unknown
	underTest atomic.Pointer[string] // its address, which the control plane returned
	searches  atomic.Bool            // threads are listed only by the search endpoint

	mu     sync.Mutex
	serial map[string]int // number of the last name, by purpose
	notes  []reports.Note

	reading sync.Mutex
	latest  atomic.Pointer[config.Config] // the configuration with credentials that were read again; nil if unchanged
}

// Options are the options of New.
type Options struct {
	Config      *config.Config
	Concurrency int    // requests in flight
	RunID       string // "" if nothing is created
	Seed        int64  // seed of the jitter of polls
	Fixtures    Fixtures
	Progress    func(Event)
	Dial        client.Dial // connects to the target; nil means the network of the system
	Server      Server      // nil if the suite did not start the target

	// If there is an oracle, exchanges are recorded.
	Oracle     *spec.Oracle
	Start      time.Time
	LedgerFile string // "": in memory only
}

// Server is a target that was started for the test run.
type Server interface {
	Ended() *Ending // nil while it runs
}

// Ending is the end of a server.
type Ending struct {
	At     time.Time
	How    string // "exit status 1"
	Failed bool   // it ended with an error or by a signal
}

// EndedEarly returns the end of the server, or nil if it runs or was not started by the suite.
func (t *Target) EndedEarly() *Ending {
	if t.Server == nil {
		return nil
	}
	return t.Server.Ended()
}

// New returns the target of a configuration. It returns an error if the ledger cannot be opened, or if a file of the
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
	t := &Target{Config: c, RunID: o.RunID, Seed: o.Seed, Fixtures: o.Fixtures, Progress: o.Progress, Server: o.Server,
		Redact: client.NewRedactor(c.Secrets(), c.Common()...), Client: client.New(max(o.Concurrency, 1), route)}
	interval := c.Every()
	if interval > 0 {
		t.Client.Limit = rate.NewLimiter(rate.Every(interval), 1)
	}
	t.Client.ReadOnly = c.ReadOnly
	t.Client.Words = c.Vocabulary
	t.Redact.Add(environmentProxies())
	t.noteConfiguration()
	if o.Oracle == nil {
		return t, nil
	}
	t.Ledger, err = evidence.OpenLedger(o.LedgerFile, o.RunID, c.Target)
	if err != nil {
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

// Address returns the address of the control plane, or the address of the agent server if only that is configured.
func (t *Target) Address() string { return cmp.Or(t.Config.Target, t.Config.AgentTarget) }

// Sides returns the halves of the interface that may be judged.
func (t *Target) Sides() []spec.Side {
	if t.Config.Target == "" {
		return []spec.Side{spec.AgentServer}
	}
	return []spec.Side{spec.ControlPlane, spec.AgentServer}
}

// MarkKey is the key in the metadata of a thread whose value is the name of the thread, if a scenario names its threads.
const MarkKey = "agentconform"

// Name returns a unique name for an object that the test run creates. It contains the ID of the test run.
func (t *Target) Name(purpose string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.serial == nil {
		t.serial = map[string]int{}
	}
	t.serial[purpose]++
	return fmt.Sprintf("agentconform-%s-%s-%d", t.RunID, purpose, t.serial[purpose])
}

// Note adds a note to the result, unless there is one of the same kind and text.
func (t *Target) Note(n reports.Note) {
	n.Text = t.Redact.Text(n.Text)
	t.mu.Lock()
	defer t.mu.Unlock()
	isKnown := func(known reports.Note) bool { return known.Kind == n.Kind && known.Text == n.Text }
	if !slices.ContainsFunc(t.notes, isKnown) {
		t.notes = append(t.notes, n)
	}
}

// Notes returns the notes in a stable order.
func (t *Target) Notes() []reports.Note {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedStableFunc(slices.Values(t.notes), func(a, b reports.Note) int {
		return strings.Compare(string(a.Kind)+" "+a.Text, string(b.Kind)+" "+b.Text)
	})
}

// noteConfiguration adds notes about short secrets and about certificates that are not verified.
func (t *Target) noteConfiguration() {
	short := t.Config.ShortSecrets()
	if short != "" {
		t.Note(reports.Note{Kind: reports.NoteSecret, Text: short})
	}
	if t.Config.TLS.Insecure {
		t.Note(reports.Note{Kind: reports.NoteInsecure, Text: "tls.insecure is true: no certificate was verified, so the " +
			"responses may not be those of the target, and the credentials may have been read; set tls.ca instead"})
	}
}

// EventKind is the kind of an event of a test run.
type EventKind int

// The events of a test run.
const (
	Planned   EventKind = iota // the test run begins; Total scenarios are selected
	Started                    // a scenario begins
	Ended                      // a scenario has its verdict
	Changed                    // a scenario that has ended has failed, and the reason is not a mistake in the configuration
	Polled                     // a revision's status was read
	Throttled                  // the target asked the client to wait
	Exploring                  // all scenarios have ended, and random sequences are sent
	Repeating                  // repetition Repetition of Total begins, after the first
	Named                      // the control plane has returned the address of the agent server
	Chained                    // all requests of the scenarios were sent; Chain is the longest chain of scenarios and fixtures that waited for each other
)

// Event is an event of a test run, for the display of its progress.
type Event struct {
	Kind    EventKind
	Name    string // name of the target, the scenario or the revision, or the address of an agent server
	Text    string // the requirement of a scenario, the status of a revision
	Verdict reports.Verdict
	Decides bool // the requirement of a scenario counts as MUST
	Reason  string
	// BlockedBy has the causes because of which a scenario could not be judged. Scenarios may share a cause.
	BlockedBy []reports.Blocker
	Total     int
	Seed      int64
	// Deployments is the maximum number of deployments that the selected scenarios create.
	Deployments int
	Explored    int           // the maximum number of further deployments that exploring the control plane creates
	Elapsed     time.Duration // time since a poll began, or the time that the target asks the client to wait
	Left        time.Duration // time until the deadline of a poll
	Over        bool          // the poll has ended
	Repetition  int           // number of repetitions if the test run is Planned
	Refused     bool          // the time is too long, so the client does not wait
	Chain       []Link
}

// Link is a part of a chain: the requests of a fixture or a scenario, after those of the link before it.
type Link struct {
	Name     string
	Requests int
	Took     time.Duration
}
