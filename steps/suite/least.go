package suite

import (
	"slices"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/forecast"
	"github.com/agentconform/agentconform/steps/plane"
)

// least is the least time that the run could have taken, at the pace that it measured; nil where it was stopped or sent nothing.
func (r *run) least(selected []*features.Scenario) (*reports.Least, error) {
	if r.stopped != "" || r.unreachable != "" {
		return nil, nil
	}
	answers, sum, err := answerTimes(r.Journal)
	if err != nil || len(answers) == 0 {
		return nil, err
	}
	pace := forecast.Pace{Answer: median(answers)}
	pace.Revision, pace.Failure = buildTimes(r.plane)
	expected := r.forecast.Least(selected, pace, r.Concurrency)
	l := &reports.Least{RequestsMS: (sum / time.Duration(r.Concurrency)).Milliseconds(), Concurrency: r.Concurrency, PathMS: expected.OfPath().Milliseconds(), Path: []reports.PathPart{},
		AnswerMS: float64(pace.Answer.Microseconds()) / 1000, RevisionMS: pace.Revision.Milliseconds(), FailureMS: pace.Failure.Milliseconds()}
	l.RequestsMS = max(l.RequestsMS, (time.Duration(len(answers)-1) * r.target.Config.Every()).Milliseconds())
	l.MS = max(l.RequestsMS, l.PathMS)
	for _, p := range expected.Path {
		l.Path = append(l.Path, reports.PathPart{Name: p.Name, MS: p.Time.Milliseconds(), Revisions: p.Revisions + p.Failures})
	}
	return l, nil
}

// answerTimes are how long each request took, and all together.
func answerTimes(journal reports.Recorder) (all []time.Duration, sum time.Duration, err error) {
	for x, err := range journal.All() {
		if err != nil {
			return nil, 0, err
		}
		took := time.Duration(x.MS * float64(time.Millisecond))
		all, sum = append(all, took), sum+took
	}
	return all, sum, nil
}

// buildTimes are how long it took from the first look at a revision until it was DEPLOYED, and until it had failed: at half of those
// that were seen on their way.
func buildTimes(p *plane.Plane) (deployed, failed time.Duration) {
	began := map[string]time.Duration{}
	var up, down []time.Duration
	for _, t := range p.Timeline() {
		at := time.Duration(t.AtMS) * time.Millisecond
		first, seen := began[t.Revision]
		switch meant := p.Statuses.Meant(t.Status); {
		case !seen:
			began[t.Revision] = at
		case meant == plane.StatusDeployed:
			up = append(up, at-first)
		case p.Statuses.IsFailed(meant):
			down = append(down, at-first)
		}
	}
	return median(up), median(down)
}

func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
