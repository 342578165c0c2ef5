// Package reports contains the result of a test run as a value. The console, all files and the exit code are derived from
// a [Result]. Package steps fills it; each exporter is a package of its own.
//
// [Record] adds exchanges during the test run. At its end, [Result.SetExchanges] makes their ids independent of
// timing, [Tally] counts, and [ConcludeRun] returns the verdict. [Result.WriteJSON] writes result.json, which
// result.schema.json describes, and [ReadFile] reads it.
//
// Text that comes from the target may be hostile: every exporter passes it through package safe and limits its length.
package reports

import (
	_ "embed" // result.schema.json
	"fmt"
	"slices"
	"strings"
	"time"
)

// Schema is the name and version of the format of result.json.
const Schema = "agentconform.result/v1"

// ResultSchema is the JSON Schema of result.json.
//
//go:embed result.schema.json
var ResultSchema string

// Result is the result of a test run: the content of result.json and the source of all other reports.
type Result struct {
	Schema       string        `json:"schema"`
	Suite        Suite         `json:"suite"`
	Target       Target        `json:"target"`
	Run          Run           `json:"run"`
	Verdict      Conclusion    `json:"verdict"`
	Scope        Scope         `json:"scope"`                  // "whole" or "part"
	NotJudged    []NotJudged   `json:"not_judged,omitempty"`   // skipped and absent requirements, in the order of the features
	MissingKeys  []MissingKey  `json:"missing_keys,omitempty"` // what one more key would add, sorted by the number of requirements
	Unseen       []string      `json:"unseen,omitempty"`       // halves ("agent-server") without a successful response
	Headline     string        `json:"headline,omitempty"`     // one sentence about the target as a whole
	Counts       Counts        `json:"counts"`
	Capabilities []Capability  `json:"capabilities,omitempty"` // capabilities with their requirements; absent in results of earlier versions
	Requirements []Requirement `json:"requirements"`
	Problems     []Problem     `json:"problems"` // in the order of their numbers
	Findings     []Finding     `json:"findings"`
	NotScored    *NotScored    `json:"not_scored,omitempty"` // nil if everything counts
	Coverage     Coverage      `json:"coverage"`
	Timeline     []Transition  `json:"timeline"`
	// Exchanges are the exchanges of the test run, with ids counted from 1. A result file has only the exchanges that other
	// parts of it refer to. The file ExchangesFile has all of them.
	Exchanges     []Exchange    `json:"exchanges"`
	ExchangesFile string        `json:"exchanges_file,omitempty"`
	Ledger        []LedgerEntry `json:"ledger"`
	Notes         []Note        `json:"notes,omitempty"`    // observations that are not failures
	Baseline      *Baseline     `json:"baseline,omitempty"` // nil without --baseline
}

// Suite is the version of the suite and of the interface.
type Suite struct {
	Version      string `json:"version"`          // version of agentconform
	Commit       string `json:"commit,omitempty"` // commit of its source, if known; with "+dirty" if the source was changed
	Interface    string `json:"interface"`        // version of the interface description, "0.1.0"
	Requirements int    `json:"requirements"`     // number of requirements in the catalogue
	Digest       string `json:"digest,omitempty"` // digest of all features: "sha256:" and 64 hexadecimal digits
	Set          string `json:"set,omitempty"`    // version of the requirement set that counts, "0.1"; empty: all requirements count
}

// NotScored has the results of requirements and scenarios that are newer than the requirement set of the test run. They
// change neither the verdict nor the counts.
type NotScored struct {
	Requirements []Requirement `json:"requirements"` // requirements with only the scenarios that do not count
	Findings     []Finding     `json:"findings"`
}

// Has reports whether a requirement has scenarios that do not count.
func (n *NotScored) Has(id string) bool {
	return n != nil && slices.ContainsFunc(n.Requirements, func(q Requirement) bool { return q.ID == id })
}

// Target is the server under test.
type Target struct {
	ControlPlane   string         `json:"control_plane"`
	AgentServer    string         `json:"agent_server"`
	Implementation Implementation `json:"implementation"`
	Rejecting      []string       `json:"rejecting,omitempty"`  // halves that refused all requests with credentials
	Connection     *Connection    `json:"connection,omitempty"` // nil if the addresses are enough to reach the target
	Supports       []string       `json:"supports,omitempty"`   // claims, in words of the key supports; empty: all
	Users          []string       `json:"users,omitempty"`      // names of the users, in the order of the configuration; may be empty
}

// PathOf returns the path of an address relative to the address of a half, "/v2/deployments", or "" if it is not below
// one.
func (t *Target) PathOf(address string) string {
	for _, base := range []string{t.ControlPlane, t.AgentServer} {
		rest, below := strings.CutPrefix(address, strings.TrimRight(base, "/"))
		if base != "" && below && strings.HasPrefix(rest, "/") {
			return rest
		}
	}
	return ""
}

// Implementation describes the target. It comes from the configuration.
type Implementation struct {
	Name    string `json:"name" yaml:"name"`
	Version string `json:"version" yaml:"version"`
	URL     string `json:"url" yaml:"url"`
	Contact string `json:"contact" yaml:"contact"`
}

// Run is the test run itself.
type Run struct {
	ID         string    `json:"id"`
	Seed       int64     `json:"seed"`
	StartedAt  time.Time `json:"started_at"`
	DurationMS int64     `json:"duration_ms"`
	// RemovalMS is the part of DurationMS that the cleanup took. It is 0 if the cleanup took less than a second, unless the
	// test run was stopped.
	RemovalMS int64    `json:"removal_ms,omitempty"`
	Command   string   `json:"command"`             // command line, quoted for a shell
	Arguments []string `json:"arguments,omitempty"` // arguments of the program, without its name
	GoTest    string   `json:"go_test,omitempty"`   // name of the Go test whose sub-tests are the requirements, if it is one
	Strict    bool     `json:"strict,omitempty"`    // fail_on names SHOULD
	// FailOn is "should" or a tag expression, or several joined by " or ": requirements that match count as MUST.
	FailOn   string `json:"fail_on,omitempty"`
	Whole    bool   `json:"require_whole,omitempty"` // a partial test run is incomplete
	ReadOnly bool   `json:"read_only,omitempty"`     // the test run sent no writes, and a replay will send none
	// Recording is set if the exchanges are those of a recording, and no test run sent them.
	Recording *Recording `json:"recording,omitempty"`
	Repeat    int        `json:"repeat,omitempty"`   // number of --repeat, if it is above 1; Repeated may be lower
	Repeated  int        `json:"repeated,omitempty"` // completed repetitions
	Stopped   string     `json:"stopped,omitempty"`  // reason why it ended early, in words: "--timeout 1s", "Ctrl-C"
}

// Recording is a recording whose exchanges were judged instead of those of a test run.
type Recording struct {
	File      string `json:"file"`
	Exchanges int    `json:"exchanges"` // number of judged exchanges; the result has only those in findings
}

// Counts are the numbers of a test run.
type Counts struct {
	Requirements map[Verdict]int `json:"requirements"`
	Scenarios    map[Verdict]int `json:"scenarios"`
	Exchanges    int             `json:"exchanges"`
	Cases        int             `json:"cases"`                // scenarios, rows of Examples and generated values
	Explored     int             `json:"explored,omitempty"`   // operations in random sequences
	Throttled    int             `json:"throttled,omitempty"`  // responses after which the suite waited: 429 or 503 with Retry-After
	WaitedMS     int64           `json:"waited_ms,omitempty"`  // sum of these waits
	NotWaited    int             `json:"not_waited,omitempty"` // responses whose Retry-After was too long for the suite
}

// Capability is a closed set of requirements that a target can claim.
type Capability struct {
	Name         string   `json:"name"`    // "paging", as in target.supports
	Profile      string   `json:"profile"` // "control-plane", "agent-server" or "end-to-end"
	Title        string   `json:"title"`   // for people
	Requirements []string `json:"requirements"`
}

// Requirement is one Rule of a feature. Its verdict is the verdict of its worst scenario.
type Requirement struct {
	ID          string `json:"id"`
	Level       Level  `json:"level"`
	Binding     bool   `json:"binding,omitempty"` // counts as a MUST because of run.fail_on or a claim
	Title       string `json:"title"`             // title of the Rule
	Quote       string `json:"quote,omitempty"`   // sentence of the interface that it tests
	Description string `json:"description"`       // text below the title of the Rule, may be empty
	Section     string `json:"section"`           // sections of the interface, "4, 8"
	Profile     string `json:"profile"`           // "control-plane", "agent-server" or "end-to-end"
	Feature     string `json:"feature"`           // title of the feature
	// Subject is what a violation puts at risk: "isolation", "security", "rollback", "form", or "" for the rest.
	Subject   string    `json:"subject,omitempty"`
	Claimed   string    `json:"claimed,omitempty"` // capability, if the target claims it by name
	Verdict   Verdict   `json:"verdict"`
	Reason    string    `json:"reason"`               // reason of the worst scenario
	Skip      *Skip     `json:"skip,omitempty"`       // reason, if it was skipped
	BlockedBy []Blocker `json:"blocked_by,omitempty"` // reasons, if it is blocked or inconclusive
	// ExplainedBy has the IDs of the requirements whose failure explains this failure. It is empty if a failed scenario has
	// no explanation. Other failures may explain these requirements in turn.
	ExplainedBy []string   `json:"explained_by,omitempty"`
	Scenarios   []Scenario `json:"scenarios"`
	Known       *Known     `json:"known,omitempty"` // set if the baseline covers all of its failures
	// Repetitions counts its verdicts with --repeat, else it is nil. Verdict is the worst of them.
	Repetitions Repetitions `json:"repetitions,omitempty"`
}

// Scenario is one test of a requirement.
type Scenario struct {
	Name       string    `json:"name"`
	URI        string    `json:"uri"`
	Line       int       `json:"line"`
	Verdict    Verdict   `json:"verdict"`
	Reason     string    `json:"reason"`               // for the reader only
	Skip       *Skip     `json:"skip,omitempty"`       // reason, if it was skipped
	BlockedBy  []Blocker `json:"blocked_by,omitempty"` // reasons, if it is blocked or inconclusive
	DurationMS int64     `json:"duration_ms"`
	Steps      []Step    `json:"steps,omitempty"`
	Fixtures   []string  `json:"fixtures,omitempty"` // shared fixtures that it used; their exchanges are under "fixture: ..."
	Exchanges  []int     `json:"exchanges"`          // ids
	// Repetitions counts its verdicts with --repeat, and Failures has those in which it failed.
	Repetitions Repetitions `json:"repetitions,omitempty"`
	Failures    []Failure   `json:"failures,omitempty"`
}

// Key returns "uri:line".
func (s *Scenario) Key() string { return fmt.Sprintf("%s:%d", s.URI, s.Line) }

// Step is one step of a scenario.
type Step struct {
	Keyword string  `json:"keyword"` // "Given", "When", "Then", "And", "But"
	Text    string  `json:"text"`
	Line    int     `json:"line"`
	Verdict Verdict `json:"verdict,omitempty"` // empty if the step was not reached
}

// Finding is one violation: the expected and the actual value, and the exchange that shows it. Violations of the same
// kind are one finding with a count.
type Finding struct {
	ID          string `json:"id"` // same in all test runs: derived from requirement, operation, pointer, kind and class of input
	Requirement string `json:"requirement"`
	Summary     string `json:"summary"`            // one sentence
	Step        string `json:"step,omitempty"`     // step that failed
	Scenario    string `json:"scenario,omitempty"` // "uri:line"
	Expected    string `json:"expected"`
	Actual      string `json:"actual"`
	Hint        string `json:"hint,omitempty"`  // what to do next
	Operation   string `json:"operation"`       // operation ID of the contract; empty if several are affected
	Pointer     string `json:"pointer"`         // JSON pointer into the response body; empty if several values are wrong
	Kind        string `json:"kind,omitempty"`  // kind of the violation, from a closed list: "accepted", "missing-item"
	Class       string `json:"class,omitempty"` // class of the input, if the requirement distinguishes several: "out of range"
	Count       int    `json:"count"`
	Judged      int    `json:"judged,omitempty"`    // number of judgements: 2 if its scenario was judged twice; with --repeat, the number of repetitions in which its requirement passed or failed
	Seen        int    `json:"seen,omitempty"`      // number of judgements in which it was seen
	Exchange    int    `json:"exchange"`            // id of the first exchange that shows it; 0: none
	Check       *Check `json:"check,omitempty"`     // nil if only this program can judge the response of Exchange
	Exchanges   []Link `json:"exchanges,omitempty"` // exchanges that led to it, including those of fixtures, in order
	Compared    string `json:"compared,omitempty"`  // the two exchanges, if the expected value comes from an earlier one
	Curl        string `json:"curl"`                // curl line that repeats the request; secrets are shell variables
	Known       *Known `json:"known,omitempty"`
}

// Check is the part of a judgement that needs no knowledge of the interface. A script uses it to judge a response again.
// A response is right if it has one of the statuses, all texts of Requires and Contains, and none of Lacks. It is wrong
//   - if it has a text of Lacks,
//   - if it has one of the statuses, but not all texts of Requires,
//   - if it has another status, and both Lacks and Requires are empty.
//
// In all other cases the check does not decide.
type Check struct {
	Statuses []string `json:"statuses"` // "422", or "4XX" for all statuses of a class
	Contains []string `json:"contains,omitempty"`
	Lacks    []string `json:"lacks,omitempty"`
	Requires []string `json:"requires,omitempty"`
	IDs      bool     `json:"ids,omitempty"` // Lacks and Requires are ids of objects, which are new in each run of the script
}

// Link is one exchange that led to a finding.
type Link struct {
	Exchange int  `json:"exchange"` // id
	Part     Part `json:"part"`
}

// Part is the purpose of an exchange that led to a finding.
type Part string

// The parts of exchanges.
const (
	SetUp       Part = "set-up"      // sent under Given, or by a fixture
	Act         Part = "act"         // under When
	Observation Part = "observation" // sent under Then, or the exchange that shows the violation
)

// Known is the entry of the baseline that covers a failure.
type Known struct {
	Reason  string `json:"reason"`
	Owner   string `json:"owner"`
	Expires string `json:"expires,omitempty"` // a day, "2026-12-31"
	Flaky   bool   `json:"flaky,omitempty"`   // the failure may be absent in some test runs
}

// Baseline is the comparison of a test run with its baseline. Stale, Unmatched, Expired and New have one sentence for each
// entry or failure that makes the test run fail.
type Baseline struct {
	File      string   `json:"file"`
	Known     int      `json:"known"` // number of failures that a known entry covers
	Flaky     int      `json:"flaky"` // number of failures that a flaky entry covers
	Stale     []string `json:"stale,omitempty"`
	Unmatched []string `json:"unmatched,omitempty"`
	Expired   []string `json:"expired,omitempty"`
	New       []string `json:"new,omitempty"`
}

// Problems returns the sentences about entries and failures that make the test run fail.
func (b *Baseline) Problems() []string { return slices.Concat(b.New, b.Outdated()) }

// Outdated returns the sentences about entries that make the test run fail.
func (b *Baseline) Outdated() []string { return slices.Concat(b.Stale, b.Expired, b.Unmatched) }

// Coverage contains the parts of the contract that the test run has exercised.
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
	Extension bool   `json:"extension,omitempty"` // an operation that other servers have and the interface does not define
}

// StatusCoverage counts the responses with one combination of operation, status and content type.
type StatusCoverage struct {
	Operation   string `json:"operation"`
	Status      string `json:"status"` // "200", or "4XX" for a declared class without responses
	ContentType string `json:"content_type"`
	Declared    bool   `json:"declared"` // the contract declares the status
	Count       int    `json:"count"`    // may be 0 for a declared status
}

// ParameterCoverage contains the values sent for a query or path parameter, with "<uuid>" for ids.
type ParameterCoverage struct {
	Operation string   `json:"operation"`
	Parameter string   `json:"parameter"`
	Values    []string `json:"values"`
}

// EnumCoverage has the values of an enumeration that the target has returned, and the remaining ones.
type EnumCoverage struct {
	Field  string   `json:"field"`
	Seen   []string `json:"seen"`
	Unseen []string `json:"unseen"`
}

// Transition is a new status of a revision that a poll returned.
type Transition struct {
	Revision   string `json:"revision"`
	Deployment string `json:"deployment,omitempty"`
	Status     string `json:"status"`
	AtMS       int64  `json:"at_ms"` // since the start of the test run
}

// LedgerEntry is an object that the test run created at the target.
type LedgerEntry struct {
	Kind    string `json:"kind"` // "deployment", "thread" or "run"
	ID      string `json:"id"`
	Address string `json:"address,omitempty"` // base URL of its control plane or agent server
	// Deployment is the ID of the deployment of a thread or run, whose removal removes it. It is empty if the agent server
	// is configured.
	Deployment string `json:"deployment,omitempty"`
	Thread     string `json:"thread,omitempty"` // ID of the thread of a run, whose removal removes it
	// Owner is the key of the credentials that created a thread or run, such as users.0. It may be empty.
	Owner       string `json:"owner,omitempty"`
	CreatedBy   string `json:"created_by"` // scenario or fixture
	Removed     bool   `json:"removed"`
	Reason      string `json:"reason,omitempty"`      // reason why it was not removed, in words
	Unremovable bool   `json:"unremovable,omitempty"` // the target does not remove objects of this kind
}
