package resume

import (
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

// File is the name of the journal in the folder of the reports.
const File = "journal.jsonl"

// Schema names the version of the journal's format.
const Schema = "agentconform.journal/v1"

// line is one line of a journal: an object with exactly one member.
type line struct {
	Run      *Header             `json:"run,omitempty"` // the first line
	Exchange *evidence.Observed  `json:"exchange,omitempty"`
	Scenario *Scenario           `json:"scenario,omitempty"`
	Status   *reports.Transition `json:"status,omitempty"`
	Resumed  *reports.Resumption `json:"resumed,omitempty"`
}

// Header says which run it is, and what must be the same where it goes on.
type Header struct {
	Schema    string    `json:"schema"`
	ID        string    `json:"id"`
	Seed      int64     `json:"seed"`
	StartedAt time.Time `json:"started_at"`
	Identity
}

// Scenario is a scenario that has ended, and what the run knew then.
type Scenario struct {
	Key      string           `json:"key"`
	Outcome  *outcome.Outcome `json:"outcome,omitempty"` // nil: passed
	Step     int              `json:"step"`              // index of the step that ended it, -1 when all passed
	Sentence string           `json:"sentence,omitempty"`
	Took     time.Duration    `json:"took_ns"`
	At       time.Duration    `json:"at_ns"` // from the start of the run
	Fixtures []string         `json:"fixtures,omitempty"`
	Learned  Learned          `json:"learned,omitzero"`
}

// Learned is what a run has learned beside its exchanges and verdicts.
type Learned struct {
	AgentServer string         `json:"agent_server,omitempty"`
	Searches    bool           `json:"searches,omitempty"` // threads were seen to be listed with the search endpoint only
	Notes       []reports.Note `json:"notes,omitempty"`
	Throttled   int            `json:"throttled,omitempty"` // as in reports.Counts
	NotWaited   int            `json:"not_waited,omitempty"`
	WaitedMS    int64          `json:"waited_ms,omitempty"`
}
