// Package steps runs the specification: Run judges a target by the features and returns the result. What the
// sentences mean and how requests are sent is in the packages below it (see ARCHITECTURE.md).
package steps

import (
	"context"
	"sync"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/suite"
)

// Options say what a run needs beyond its target's configuration.
type Options = suite.Options

// Stopped is the cause of a context that ends a run early. The result says what it was.
type Stopped = suite.Stopped

// Selection says which scenarios are run.
type Selection = suite.Selection

// Requirements returns what a target is judged by. Both are made once, and may be used by several runs at a time.
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

// Run judges the target and returns all that was learned. An error means that there is nothing to report: the
// ledger could not be written, or the selection holds no scenario. A target that is out of reach, or
// a context that ends early, is a result (incomplete), not an error.
func Run(ctx context.Context, o Options) (*reports.Result, error) { return suite.Run(ctx, o) }
