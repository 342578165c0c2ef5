package suite

import (
	"github.com/cucumber/godog/formatters"
	messages "github.com/cucumber/messages/go/v21"
)

// quiet is a formatter for godog that prints nothing.
type quiet struct{}

func (quiet) TestRunStarted() {}

func (quiet) Feature(*messages.GherkinDocument, string, []byte) {}

func (quiet) Pickle(*messages.Pickle) {}

func (quiet) Summary() {}

func (quiet) Defined(*messages.Pickle, *messages.PickleStep, *def) {}

func (quiet) Passed(*messages.Pickle, *messages.PickleStep, *def) {}

func (quiet) Skipped(*messages.Pickle, *messages.PickleStep, *def) {}

func (quiet) Undefined(*messages.Pickle, *messages.PickleStep, *def) {}

func (quiet) Pending(*messages.Pickle, *messages.PickleStep, *def) {}

func (quiet) Failed(*messages.Pickle, *messages.PickleStep, *def, error) {}

func (quiet) Ambiguous(*messages.Pickle, *messages.PickleStep, *def, error) {}

type def = formatters.StepDefinition
