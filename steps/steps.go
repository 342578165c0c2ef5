// Package steps runs the specification: Run judges a target by the features and returns the result. The packages
// below it define the steps and send the requests (see ARCHITECTURE.md).
package steps

import (
	"context"
	"sync"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/recording"
	"github.com/agentconform/agentconform/steps/suite"
)

// Options has the settings of a test run that are not in the configuration of the target.
type Options = suite.Options

// Stopped is the cause of a context that ends a test run early. The result names it.
type Stopped = suite.Stopped

// Selection selects the scenarios to run.
type Selection = suite.Selection

// Requirements returns the requirements and the oracle. They are created once, and test runs may share them.
func Requirements() (*features.Catalogue, *spec.Oracle, error) {
	catalogue, err := loadCatalogue()
	if err != nil {
		return nil, nil, err
	}
	oracle, err := newOracle()
	return catalogue, oracle, err
}

var (
	loadCatalogue = sync.OnceValues(features.Load)
	newOracle     = sync.OnceValues(spec.New)
)

// Run judges the target and returns the result. It returns an error if the ledger cannot be written or if no scenario
// is selected. If the target does not respond or the context ends early, the result is incomplete.
func Run(ctx context.Context, o Options) (*reports.Result, error) { return suite.Run(ctx, o) }

// JudgeRecording judges the exchanges of a recording, and sends nothing.
func JudgeRecording(ctx context.Context, o Options, from *recording.Recording) (*reports.Result, error) {
	return suite.JudgeRecording(ctx, o, from)
}
