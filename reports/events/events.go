// Package events writes a test run as JSON lines, one event each, for programs that follow it: first start, then scenario
// for each scenario that ends, and at the end requirement, problem and end. event.schema.json describes them.
package events

import (
	_ "embed" // event.schema.json
	"io"
	"path"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/reports/script"
)

// version is the version of the format, which the first event names.
const version = "agentconform.event/v1"

// Schema is the JSON Schema of an event.
//
//go:embed event.schema.json
var Schema string

// maxText is the maximum length in characters of a text that may come from the target.
const maxText = 1000

// Start is the first event.
type Start struct {
	Schema      string    `json:"schema"`
	At          time.Time `json:"at"`
	Target      string    `json:"target"`      // addresses of the target
	Scenarios   int       `json:"scenarios"`   // number of selected scenarios
	Deployments int       `json:"deployments"` // maximum number of deployments that the scenarios create
	Seed        int64     `json:"seed"`
}

// Scenario is the event for a scenario with its verdict. A later event for the same scenario and repetition replaces it.
type Scenario struct {
	Requirement string          `json:"requirement"` // its ID
	Name        string          `json:"name"`
	Verdict     reports.Verdict `json:"verdict"`
	Decides     bool            `json:"decides"` // the requirement counts as MUST
	Reason      string          `json:"reason,omitempty"`
	DurationMS  int64           `json:"duration_ms"`
	Repetition  int             `json:"repetition,omitempty"` // with --repeat, counts from 1; see [Writer.Repeat]
}

// requirement is the event for the final verdict of a requirement, after the last scenario.
type requirement struct {
	ID          string          `json:"id"`
	Level       reports.Level   `json:"level"`
	Title       string          `json:"title"`
	Verdict     reports.Verdict `json:"verdict"`
	Decides     bool            `json:"decides"`
	Known       bool            `json:"known,omitempty"` // the baseline covers the failure
	Reason      string          `json:"reason,omitempty"`
	ExplainedBy []string        `json:"explained_by,omitempty"` // IDs of requirements
}

// problem is the event for a root cause with all failures that it explains, after the requirements.
type problem struct {
	Number      int           `json:"number"`
	Requirement string        `json:"requirement"`
	Level       reports.Level `json:"level"`
	Decides     bool          `json:"decides"`
	Known       bool          `json:"known,omitempty"`
	Title       string        `json:"title"`
	Request     string        `json:"request,omitempty"`
	Expected    string        `json:"expected,omitempty"`
	Got         string        `json:"got,omitempty"`
	Hint        string        `json:"hint,omitempty"`
	Breaks      []string      `json:"breaks,omitempty"`   // IDs of requirements that fail for the same reason
	Findings    []string      `json:"findings,omitempty"` // IDs in result.json
	Replay      string        `json:"replay,omitempty"`   // the command that judges it again
	Script      string        `json:"script,omitempty"`   // path of its script
}

// end is the last event.
type end struct {
	Verdict    reports.Conclusion      `json:"verdict"`
	Scope      reports.Scope           `json:"scope"`
	ExitCode   int                     `json:"exit_code"`
	Headline   string                  `json:"headline"`
	Counts     map[reports.Verdict]int `json:"counts"` // counts of requirements
	Exchanges  int                     `json:"exchanges"`
	DurationMS int64                   `json:"duration_ms"`
	Result     string                  `json:"result,omitempty"` // the path of result.json
	Report     string                  `json:"report,omitempty"` // path of the page, if it is written
}

// Writer writes events. It is safe for concurrent use.
type Writer struct {
	mu         sync.Mutex
	out        io.Writer
	err        error
	repetition int
}

// NewWriter returns a writer of events.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Start writes that the test run begins.
func (w *Writer) Start(e Start) {
	e.Schema = version
	w.write("start", e)
}

// Repeat sets the repetition of the following scenarios.
func (w *Writer) Repeat(repetition int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.repetition = repetition
}

// Scenario writes that a scenario has ended.
func (w *Writer) Scenario(e Scenario) {
	w.mu.Lock()
	e.Repetition = w.repetition
	w.mu.Unlock()
	e.Reason = safe.Ellipsis(e.Reason, maxText)
	w.write("scenario", e)
}

// Result writes the events after the last scenario. folder is the folder of the reports, or "". It returns the first
// error of the writer.
func (w *Writer) Result(r *reports.Result, folder string) error {
	o := overview.Of(r)
	for q := range reports.Each(r.Requirements) {
		w.write("requirement", requirement{ID: q.ID, Level: q.Level, Title: q.Title, Verdict: q.Verdict, Decides: q.Decides(),
			Known: q.Known != nil, Reason: safe.Ellipsis(q.Reason, maxText), ExplainedBy: q.ExplainedBy})
	}
	for _, p := range o.Problems {
		e := problem{Number: p.Number, Requirement: p.Owner.ID, Level: p.Level, Decides: p.Owner.Decides(), Known: p.Known,
			Title: p.Title, Request: p.Request, Expected: p.Expected, Got: p.Got, Breaks: p.Breaks,
			Findings: p.Problem.Findings, Replay: p.Replay}
		if f := p.First(); f != nil {
			e.Hint = safe.Ellipsis(f.Hint, maxText)
			if file := script.Path(r, f); file != "" && folder != "" {
				e.Script = path.Join(folder, file)
			}
		}
		w.write("problem", e)
	}
	last := end{Verdict: r.Verdict, Scope: r.Scope, ExitCode: o.Display().Exit, Headline: o.Headline(),
		Counts: r.Counts.Requirements, Exchanges: r.Counts.Exchanges, DurationMS: r.Run.DurationMS}
	if folder != "" {
		last.Result = path.Join(folder, reports.ReportJSON.File())
		if r.Run.Writes(reports.ReportHTML) {
			last.Report = path.Join(folder, reports.ReportHTML.File())
		}
	}
	w.write("end", last)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// write writes one event as a line, with its name as the first member.
func (w *Writer) write(name string, event any) {
	line, err := reports.Encode(event, "")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && err == nil {
		_, err = w.out.Write(append([]byte(`{"event":"`+name+`",`), safe.JSON(line)[1:]...))
	}
	if w.err == nil {
		w.err = err
	}
}
