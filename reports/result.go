// Package reports is the model of a result: all that a run learned about a target, in one value.
//
// The [Result] is what the console, every file and the exit code are derived from. The package knows neither HTTP
// clients nor Gherkin nor the formats of reports: steps fills the result, and the exporters, a package each, show it.
//
// While a run goes on, its exchanges are kept by [Record]. At its end, [Result.RenumberExchanges] makes their ids
// independent of which scenario was quicker, [Tally] counts, [ConcludeRun] derives the verdict, and [Result.WriteJSON]
// writes result.json, whose JSON Schema is result.schema.json. [ReadFile] reads it again.
//
// Text that comes from the target may be hostile: every exporter passes it through package safe, and bounds it.
package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Schema names the version of the result file's format.
const Schema = "agentconform.result/v1"

// Result is all that a run learned: the content of result.json and the source of every other report.
type Result struct {
	Schema       string        `json:"schema"`
	Suite        Suite         `json:"suite"`
	Target       Target        `json:"target"`
	Run          Run           `json:"run"`
	Verdict      Conclusion    `json:"verdict"`
	Scope        Scope         `json:"scope"`                // "whole" or "part"
	NotJudged    []NotJudged   `json:"not_judged,omitempty"` // what makes it a part, in the order of the features
	Unseen       []string      `json:"unseen,omitempty"`     // halves ("agent-server") judged without a successful answer
	Headline     string        `json:"headline,omitempty"`   // one sentence: what is wrong, or what was shown
	Counts       Counts        `json:"counts"`
	Requirements []Requirement `json:"requirements"`
	Findings     []Finding     `json:"findings"`
	Coverage     Coverage      `json:"coverage"`
	Timeline     []Transition  `json:"timeline"`
	Exchanges    []Exchange    `json:"exchanges"` // ids count from 1
	Ledger       []LedgerEntry `json:"ledger"`
	Notes        []Note        `json:"notes,omitempty"`    // what is no failure and worth knowing
	Baseline     *Baseline     `json:"baseline,omitempty"` // only where the run was given one
}

// Suite says which suite and which interface judged.
type Suite struct {
	Version      string `json:"version"`          // of agentconform
	Commit       string `json:"commit,omitempty"` // of its source, where recorded; with "+dirty" if the source was changed
	Interface    string `json:"interface"`        // of the interface description, "0.1.0"
	Requirements int    `json:"requirements"`     // how many the catalogue holds
	Digest       string `json:"digest,omitempty"` // of all features: "sha256:" and 64 hexadecimal digits
}

// Target says what was judged.
type Target struct {
	ControlPlane   string         `json:"control_plane"`
	AgentServer    string         `json:"agent_server"`
	Implementation Implementation `json:"implementation"`
	Rejecting      []string       `json:"rejecting,omitempty"`  // halves that refused all requests with credentials
	Connection     *Connection    `json:"connection,omitempty"` // how it was reached, where its addresses do not say it
	Supports       []string       `json:"supports,omitempty"`   // what it claims, in words of the key supports; empty: all
}

// Below is what an address has below that of a half, "/v2/deployments"; "" where it is the address of something else.
func (t *Target) Below(address string) string {
	for _, base := range []string{t.ControlPlane, t.AgentServer} {
		rest, below := strings.CutPrefix(address, strings.TrimRight(base, "/"))
		if base != "" && below && strings.HasPrefix(rest, "/") {
			return rest
		}
	}
	return ""
}

// Implementation is what the target's makers say it is, from the configuration.
type Implementation struct {
	Name    string `json:"name" yaml:"name"`
	Version string `json:"version" yaml:"version"`
	URL     string `json:"url" yaml:"url"`
	Contact string `json:"contact" yaml:"contact"`
}

// Run identifies the run itself.
type Run struct {
	ID         string    `json:"id"`
	Seed       int64     `json:"seed"`
	StartedAt  time.Time `json:"started_at"`
	DurationMS int64     `json:"duration_ms"`
	// RemovalMS is the part of DurationMS in which was removed what the run created; 0 where that took less than a second,
	// unless the run was stopped.
	RemovalMS int64    `json:"removal_ms,omitempty"`
	Command   string   `json:"command"`             // the command line, quoted for a shell
	Arguments []string `json:"arguments,omitempty"` // of the program, without its name
	Strict    bool     `json:"strict,omitempty"`    // fail_on names SHOULD
	// FailOn is "should" or a tag expression, or several joined by " or ": requirements that match count as MUST.
	FailOn   string `json:"fail_on,omitempty"`
	Whole    bool   `json:"require_whole,omitempty"` // a part counts as incomplete
	ReadOnly bool   `json:"read_only,omitempty"`     // nothing was written to the target, nor will a replay do so
	Stopped  string `json:"stopped,omitempty"`       // what ended the run early, for people: "--timeout 1s", "Ctrl-C"
}

// Counts sums the run up. Cases counts Examples rows and generated values as well as plain scenarios.
type Counts struct {
	Requirements map[Verdict]int `json:"requirements"`
	Scenarios    map[Verdict]int `json:"scenarios"`
	Exchanges    int             `json:"exchanges"`
	Cases        int             `json:"cases"`
	Explored     int             `json:"explored,omitempty"`   // operations in random sequences
	Throttled    int             `json:"throttled,omitempty"`  // 429 and 503 answers with Retry-After that were obeyed
	WaitedMS     int64           `json:"waited_ms,omitempty"`  // for which the suite agreed to wait, over all of these
	NotWaited    int             `json:"not_waited,omitempty"` // answers that asked for longer than the suite waits
}

// Requirement is one Rule of a feature and what was learned of it: the worst of its scenarios.
type Requirement struct {
	ID          string `json:"id"`
	Level       Level  `json:"level"`
	Binding     bool   `json:"binding,omitempty"` // counts as MUST whatever its level: run.fail_on matches its tags
	Title       string `json:"title"`             // the sentence of the Rule
	Quote       string `json:"quote,omitempty"`   // the sentence of the interface that it judges
	Description string `json:"description"`       // the Rule's prose, may be empty
	Section     string `json:"section"`           // of the interface, "4, 8"
	Profile     string `json:"profile"`           // "control-plane", "agent-server" or "end-to-end"
	Feature     string `json:"feature"`           // title of the feature
	// Subject is what a violation puts at risk: "isolation", "security", "rollback", "form", or "" for the rest.
	Subject   string    `json:"subject,omitempty"`
	Claimed   string    `json:"claimed,omitempty"` // capability, where the target claims it so that it has to be judged
	Verdict   Verdict   `json:"verdict"`
	Reason    string    `json:"reason"`               // of the worst scenario
	Skip      *Skip     `json:"skip,omitempty"`       // where it was skipped: why
	BlockedBy []Blocker `json:"blocked_by,omitempty"` // where it is blocked or inconclusive: by what
	// ExplainedBy are the requirements whose failure explains that this one failed, too: one for each of its scenarios that
	// failed, else there are none. They may be explained themselves.
	ExplainedBy []string   `json:"explained_by,omitempty"`
	Scenarios   []Scenario `json:"scenarios"`
	Known       *Known     `json:"known,omitempty"` // set where the baseline covers all that is wrong with it
}

// Scenario is one test of a requirement.
type Scenario struct {
	Name       string    `json:"name"`
	URI        string    `json:"uri"`
	Line       int       `json:"line"`
	Verdict    Verdict   `json:"verdict"`
	Reason     string    `json:"reason"`               // for people; no program decides anything by it
	Skip       *Skip     `json:"skip,omitempty"`       // where it was skipped: why
	BlockedBy  []Blocker `json:"blocked_by,omitempty"` // where it is blocked or inconclusive: by what
	DurationMS int64     `json:"duration_ms"`
	Steps      []Step    `json:"steps,omitempty"`
	Fixtures   []string  `json:"fixtures,omitempty"` // what it shares: the evidence of these is under "fixture: ..."
	Exchanges  []int     `json:"exchanges"`          // ids
}

// Key names the scenario: "uri:line".
func (s *Scenario) Key() string { return fmt.Sprintf("%s:%d", s.URI, s.Line) }

// Step is one sentence of a scenario. Verdict is empty for a step that was not reached.
type Step struct {
	Keyword string  `json:"keyword"` // "Given", "When", "Then", "And", "But"
	Text    string  `json:"text"`
	Line    int     `json:"line"`
	Verdict Verdict `json:"verdict,omitempty"`
}

// Finding is one thing that is wrong with the target: what was expected, what was seen, and the exchange that
// shows it. Occurrences of the same fault are one finding with a count.
type Finding struct {
	ID          string `json:"id"` // stable between runs: derived from requirement, operation, pointer and summary
	Requirement string `json:"requirement"`
	Summary     string `json:"summary"`            // one sentence
	Step        string `json:"step,omitempty"`     // the sentence of the scenario that failed
	Scenario    string `json:"scenario,omitempty"` // "uri:line"
	Expected    string `json:"expected"`
	Actual      string `json:"actual"`
	Hint        string `json:"hint,omitempty"` // what to do next
	Operation   string `json:"operation"`      // operation id of the contract, "" when no single one is at fault
	Pointer     string `json:"pointer"`        // JSON pointer into the answer's body, "" when it is not about one place
	Count       int    `json:"count"`
	Judged      int    `json:"judged,omitempty"`    // 2 where its scenario was judged twice
	Seen        int    `json:"seen,omitempty"`      // in how many of these it was seen
	Exchange    int    `json:"exchange"`            // id of the first exchange that shows it; 0 when there is none
	Exchanges   []Link `json:"exchanges,omitempty"` // all that led to it, the fixture's included, in the order of sending
	Compared    string `json:"compared,omitempty"`  // what with what, where the expected value is of an earlier exchange
	Curl        string `json:"curl"`                // reproduces it; secrets appear as shell variables
	Known       *Known `json:"known,omitempty"`
}

// Link is one exchange of the chain that led to a finding, and its part in it.
type Link struct {
	Exchange int  `json:"exchange"` // id
	Part     Part `json:"part"`
}

// Part is what an exchange is for in the story of a finding.
type Part string

// The parts of exchanges.
const (
	SetUp       Part = "set-up"      // under Given, or of a fixture
	Act         Part = "act"         // under When
	Observation Part = "observation" // under Then, or the exchange that shows the violation
)

// Known says why a failure is expected: an entry of the baseline.
type Known struct {
	Reason  string `json:"reason"`
	Owner   string `json:"owner"`
	Expires string `json:"expires,omitempty"` // a day, "2026-12-31"
	Flaky   bool   `json:"flaky,omitempty"`   // may pass as well as fail
}

// Baseline sums up how a run compares with its baseline. Stale, Unmatched, Expired and New hold one sentence for
// each entry or failure that makes the run fail.
type Baseline struct {
	File      string   `json:"file"`
	Known     int      `json:"known"` // failures that an entry covers
	Flaky     int      `json:"flaky"` // failures that a flaky entry covers
	Stale     []string `json:"stale,omitempty"`
	Unmatched []string `json:"unmatched,omitempty"`
	Expired   []string `json:"expired,omitempty"`
	New       []string `json:"new,omitempty"`
}

// Misfits lists the sentences about what makes the run fail.
func (b *Baseline) Misfits() []string { return slices.Concat(b.New, b.Stale, b.Expired, b.Unmatched) }

// Coverage says which parts of the contract the run has touched.
type Coverage struct {
	Operations []OperationCoverage `json:"operations"`
	Statuses   []StatusCoverage    `json:"statuses"`
	Parameters []ParameterCoverage `json:"parameters"`
	Enums      []EnumCoverage      `json:"enums"`
}

// OperationCoverage counts the exchanges of one operation.
type OperationCoverage struct {
	Operation string `json:"operation"`
	Method    string `json:"method"`
	Path      string `json:"path"`
	Exchanges int    `json:"exchanges"`
}

// StatusCoverage counts one combination of operation, status and content type. Declared says whether the
// contract names the status; a declared status that never came has count 0.
type StatusCoverage struct {
	Operation   string `json:"operation"`
	Status      string `json:"status"` // "200", or "4XX" for a declared class that never came
	ContentType string `json:"content_type"`
	Declared    bool   `json:"declared"`
	Count       int    `json:"count"`
}

// ParameterCoverage lists the values tried for a query or path parameter (ids are shown as "<uuid>").
type ParameterCoverage struct {
	Operation string   `json:"operation"`
	Parameter string   `json:"parameter"`
	Values    []string `json:"values"`
}

// EnumCoverage lists which values of an enumeration the target has shown.
type EnumCoverage struct {
	Field  string   `json:"field"`
	Seen   []string `json:"seen"`
	Unseen []string `json:"unseen"`
}

// Transition is a status that polling saw, and when, from the start of the run.
type Transition struct {
	Revision   string `json:"revision"`
	Deployment string `json:"deployment,omitempty"`
	Status     string `json:"status"`
	AtMS       int64  `json:"at_ms"`
}

// LedgerEntry is something the run created at the target.
type LedgerEntry struct {
	Kind    string `json:"kind"` // "deployment", "thread" or "run"
	ID      string `json:"id"`
	Address string `json:"address,omitempty"` // base URL of the control plane or agent server where it is
	// Deployment is, of a thread or run, the ID of the deployment whose removal removes it; empty where the agent server
	// is configured.
	Deployment string `json:"deployment,omitempty"`
	Thread     string `json:"thread,omitempty"` // of a run: ID of the thread whose removal removes it
	// Owner is, of a thread or run, the key of the credentials that created it, such as users.0; empty: none.
	Owner       string `json:"owner,omitempty"`
	CreatedBy   string `json:"created_by"` // scenario or fixture
	Removed     bool   `json:"removed"`
	Reason      string `json:"reason,omitempty"`      // why it was not removed; for people
	Unremovable bool   `json:"unremovable,omitempty"` // the target does not remove things of this kind
}

// Note is something that a user of the target wants to know and that is no failure.
type Note struct {
	Kind     NoteKind `json:"kind"`
	Text     string   `json:"text"`               // one sentence, without the count and the exchange
	Count    int      `json:"count,omitempty"`    // how many answers show it; 0: one
	Exchange int      `json:"exchange,omitempty"` // id of the first exchange that shows it; 0: none
	Pointer  string   `json:"pointer,omitempty"`  // JSON pointer into the body of its answer
}

// NoteKind says what a note is about.
type NoteKind string

// The kinds of notes.
const (
	NoteOwnToken NoteKind = "own-token" // answers contain the caller's own token in clear
	NoteListing  NoteKind = "listing"   // threads are listed with the search operation, since GET /threads is not served
	NoteRemoval  NoteKind = "removal"   // what the run created cannot be removed
	NoteGraph    NoteKind = "graph"     // the conformance graph does not understand a word of its contract
	NoteFixtures NoteKind = "fixtures"  // the target fetched nothing from the fixtures that the suite serves
	NoteSecret   NoteKind = "secret"    // a secret is too short to be found wherever the target repeats it
	NoteInsecure NoteKind = "insecure"  // certificates were not verified
	NoteQueue    NoteKind = "queue"     // the agent server executes few runs at a time, and the run started no more
	NoteExplored NoteKind = "explored"  // a half could not be explored
	NoteRefusal  NoteKind = "refusal"   // the status of a refusal, if agent.rejected_status is not configured
)

// Exchange is one HTTP request and its answer, redacted. Status is 0 when no answer came; Error then says why.
type Exchange struct {
	ID        int      `json:"id"`
	Scenario  string   `json:"scenario"` // "uri:line name", or "fixture: ..." for what scenarios share
	Method    string   `json:"method"`
	URL       string   `json:"url"`
	Operation string   `json:"operation,omitempty"` // of the contract, by its ID; empty where it is none
	Request   Message  `json:"request"`
	Status    int      `json:"status"`
	Response  Message  `json:"response"`
	MS        float64  `json:"ms"`
	Error     string   `json:"error,omitempty"`
	AtMS      int64    `json:"at_ms"` // from the start of the run
	Curl      string   `json:"curl,omitempty"`
	Problems  []string `json:"problems,omitempty"` // what the contract says against it
	// Repeated reports that the suite sent the request twice because the server closed an idle connection without a
	// response. The server may have carried out both requests.
	Repeated bool `json:"repeated,omitempty"`
}

// RepeatedNote explains an exchange with a request that was sent twice.
const RepeatedNote = "the suite sent this request twice, because the server closed an idle connection without a response; the server may have carried out both requests"

// Message is one direction of an exchange. A body over the evidence bound is cut; Size and SHA256 then tell of
// the whole one.
type Message struct {
	Headers map[string][]string `json:"headers"`
	Body    string              `json:"body"`
	Size    int                 `json:"size,omitempty"`
	SHA256  string              `json:"sha256,omitempty"`
	// Secrets are the places of a request at which the suite itself put a secret. Only there is the name of a variable
	// to be replaced by its value: anywhere else it is text, which may come from the target.
	Secrets []SecretPlace `json:"secrets,omitempty"`
}

// SecretPlace is the place of a secret in a request: a header, or a JSON pointer into the body.
type SecretPlace struct {
	Header  string `json:"header,omitempty"`
	Pointer string `json:"pointer,omitempty"`
}
