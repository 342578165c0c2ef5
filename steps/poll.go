package steps

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
)

// The statuses of a revision that decide something (section 3).
const (
	statusDeployed    = "DEPLOYED"
	statusSkipped     = "SKIPPED"
	statusInterrupted = "INTERRUPTED"
	statusUnknown     = "UNKNOWN"
)

// history is what polling saw of one revision.
type history struct {
	revision string
	statuses []string // each once, in the order in which they were seen
	final    string   // the status at the end of the poll
	answer   *client.Answer
	timedOut bool
}

func (r *run) failedStatus(status string) bool { return slices.Contains(r.failedStatuses, status) }

// settled tells whether the status of a revision is not going to change.
func (r *run) settled(status string) bool {
	return status == statusDeployed || status == statusSkipped || status == statusInterrupted || r.failedStatus(status)
}

// done tells whether polling may stop: the revision is DEPLOYED, or has failed for good.
func (r *run) done(status string) bool { return status == statusDeployed || r.failedStatus(status) }

// poll reads the status of a revision until it satisfies the condition, less and less often, for at most the
// configured time. Running out of time is no error: the history says so. A revision for which the time ran out before
// is not waited for again, only looked at: one that hangs would else cost every scenario that meets it the whole time.
func (r *run) poll(ctx context.Context, deployment, revision string, until func(status string) bool) (*history, error) {
	h := &history{revision: revision}
	start := time.Now()
	for wait := r.config.Polling.Interval; ; wait = min(wait*3/2, r.config.Polling.MaxInterval) {
		a, err := r.get(ctx, revisionPath(deployment, revision), "")
		if err != nil {
			return nil, err
		}
		status := a.Get("status")
		if a.Status == http.StatusNotFound && len(h.statuses) == 0 && time.Since(start) < r.config.Timeouts.Request {
			if err := client.Sleep(ctx, wait); err != nil { // just created, and not yet to be seen
				return nil, err
			}
			continue
		}
		if !a.OK() || !status.Exists() {
			return nil, violated(a, "the revision with its status", "%s", seen(a))
		}
		h.answer, h.final = a, status.String()
		r.noteRead(revision, a)
		if n := len(h.statuses); n == 0 || h.statuses[n-1] != h.final {
			h.statuses = append(h.statuses, h.final)
			r.transition(revision, h.final)
		}
		r.Progress(Event{Kind: Polled, Name: revision, Text: h.final, Elapsed: time.Since(start)})
		if until(h.final) {
			return h, nil
		}
		if r.hangs(revision) || time.Since(start)+wait > r.config.Timeouts.Poll {
			h.timedOut = true
			r.noteHanging(revision)
			return h, nil
		}
		jitter := time.Duration(rand.Int64N(int64(wait)/4 + 1))
		if err := client.Sleep(ctx, wait-wait/8+jitter); err != nil {
			return nil, err
		}
	}
}

// hangs tells whether an earlier poll of the revision, or of one of the deployment, ran out of time.
func (r *run) hangs(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hanging[id]
}

func (r *run) noteHanging(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hanging[id] = true
}

// transition notes a status for the timeline, once for each revision.
func (r *run) transition(revision, status string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := revision + " " + status
	if r.transitions[key] {
		return
	}
	r.transitions[key] = true
	r.timeline = append(r.timeline, reports.Transition{Revision: revision, Status: status, AtMS: time.Since(r.start).Milliseconds()})
}

// statusesOf returns every status that any poll of the run saw of a revision.
func (r *run) statusesOf(revision string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, t := range r.timeline {
		if t.Revision == revision {
			all = append(all, t.Status)
		}
	}
	return all
}

// deployed says what is wrong with a poll that was to end in DEPLOYED.
func (r *run) deployed(h *history) error {
	if h.final == statusDeployed {
		return nil
	}
	way := strings.Join(h.statuses, ", ")
	if h.timedOut {
		return violated(h.answer, "DEPLOYED within "+r.config.Timeouts.Poll.String(), "%s (seen: %s)", h.final, way).at("/status").
			hinting("raise timeouts.poll if the target needs longer")
	}
	return violated(h.answer, "DEPLOYED", "%s (seen: %s)", h.final, way).at("/status")
}
