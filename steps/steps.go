// Package steps runs the specification: Run judges a target by the features and returns the result. What the
// sentences mean and how requests are sent is in the packages below it (see ARCHITECTURE.md).
package steps

import (
	"context"
	"sync"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/doctor"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/explore"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

// Options say what a run needs beyond its target's configuration.
type Options = suite.Options

// Fixtures are the sources that the suite itself serves to the target's builder.
type Fixtures = target.Fixtures

// Stopped is the cause of a context that ends a run early. The result says what it was.
type Stopped = suite.Stopped

// Selection says which scenarios are run.
type Selection = suite.Selection

// DefaultConcurrency is how many requests are in flight unless the user says otherwise.
const DefaultConcurrency = suite.DefaultConcurrency

// ExploreAutomatically has a run explore where that is cheap.
const ExploreAutomatically = suite.Automatic

// Explored is how many operations that are.
const Explored = suite.Explored

// Operation is one of a sequence that is explored.
type Operation = explore.Operation

// ParseOperations reads a sequence of operations, one a line.
func ParseOperations(text string) ([]Operation, error) { return explore.Parse(text) }

// Event is one step of the progress of a run.
type Event = target.Event

// The kinds of events.
const (
	Planned   = target.Planned
	Started   = target.Started
	Ended     = target.Ended
	Polled    = target.Polled
	Throttled = target.Throttled
	Named     = target.Named
	Exploring = target.Exploring
)

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

// Preview is what a run would do, as far as that is known without a request.
type Preview = suite.Preview

// PreviewOf returns what a run of the selection would do. It sends nothing.
func PreviewOf(c *config.Config, catalogue *features.Catalogue, s Selection) (*Preview, error) {
	return suite.PreviewOf(c, catalogue, s)
}

// Examine checks whether a run could judge the target, and what its configuration lacks. Unless the options say more, it sends a
// handful of reading requests and creates nothing. The error is that of the context.
func Examine(ctx context.Context, c *config.Config, catalogue *features.Catalogue, oracle *spec.Oracle, o doctor.Options) (*doctor.Examination, error) {
	return doctor.Examine(ctx, c, catalogue, oracle, o)
}

// Discovery is the draft of a configuration, with what a target was asked.
type Discovery = doctor.Discovery

// Discover drafts a configuration for the addresses and credentials of c, with what the target answers to reading requests. It
// creates nothing, and tells each step before it is taken. The error is that of the context.
func Discover(ctx context.Context, c *config.Config, tell func(step string)) (*Discovery, error) {
	return doctor.Discover(ctx, c, tell)
}

// Await waits until each configured address answers anything over HTTP, at most for the limit. The requests carry no credentials.
// The error says which does not, or is the cause of the context.
func Await(ctx context.Context, c *config.Config, limit time.Duration) error {
	return target.Await(ctx, c, limit)
}

// Binding returns which requirements count as MUST by tag expressions, for Options.FailOn.
func Binding(c *features.Catalogue, expressions []string) (func(*features.Requirement) bool, error) {
	return suite.Binding(c, expressions)
}

// CleanUpTime bounds the removal of what a run created, at its end.
const CleanUpTime = suite.CleanUpTime

// Clean removes what earlier runs left at the target, and reports each with a problem, which is empty when it was removed.
// Credentials are sent to allowed addresses only.
func Clean(ctx context.Context, c *config.Config, left []evidence.Left, each func(e evidence.Left, problem string)) error {
	return suite.Clean(ctx, c, left, each)
}

// Elsewhere tells whether something that a run left is not at the configured target.
func Elsewhere(c *config.Config, e evidence.Left) bool { return suite.Elsewhere(c, e) }
