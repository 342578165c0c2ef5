package situations

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// Thread is a thread on which an event has happened, with the known facts about its runs.
type Thread struct {
	*agent.Thread
	*Situations
	server    *agent.Server
	completed []*agent.GraphRun // completed runs in their order; the state must contain the messages of the last one
	removed   []*agent.GraphRun // runs that were rolled back
	refused   []refusedRun      // runs that were refused, on this thread
	joins     []*agent.Joining  // pending joins
	queued    *agent.GraphRun   // a run that was sent while another run was in progress, or nil
	found     error             // outcome of GET of the queued run while it was pending
	shown     error             // outcome of the same GET by another user
	next      *agent.GraphRun   // the further run
	isLong    bool              // the run with rollback after the event has long messages
	mute      error             // blocked outcome if the graph cannot report its user
	rolled    *agent.Rollback   // the rollback
	first     outcomes          // outcomes of the checks on the first thread of the event, for the second thread
}

// owner returns the owner of the thread.
func (t *Thread) owner() target.Caller { return t.server.Owner() }

// stage determines on which of an event's threads a check is made, and when.
type stage int

// The stages. Checks that only read are made before the further run, on the same thread.
const (
	reads stage = iota
	furtherRun
	rollback
)

// Use makes an event happen and makes all checks of one of its threads: the thread on which a run is rolled back, or the
// other one. It returns the outcome of each check by its step. Each event happens once for each thread.
func (s *Situations) Use(ctx context.Context, event string, isRolledBack bool) (map[string]error, error) {
	at := slices.IndexFunc(ThreadEvents, func(e ThreadEvent) bool { return e.Name == event })
	if at < 0 {
		return nil, outcome.SuiteError("no event is called %q", event)
	}
	if err := s.isClaimed(ThreadEvents[at], isRolledBack); err != nil {
		return nil, err
	}
	name := threadPrefix + event
	if isRolledBack {
		name = "another thread on which " + event
	}
	found, err := shared.Get(ctx, s.Agents.Maker(), name, func(ctx context.Context) (outcomes, error) {
		return s.examine(ctx, ThreadEvents[at], isRolledBack)
	})
	// If no run can be rolled back, the scenarios about a rollback on the other thread of the event stay blocked.
	mayFail := ThreadEvents[at].Removes && !isRolledBack
	if isUndecided(err) || mayFail && isPrevented(err) {
		return nil, didNotHappen(err)
	}
	return found, outcome.AsPrecondition(err)
}

// isClaimed returns a skip if the claim of the target does not include the event, or a rollback after the event.
func (s *Situations) isClaimed(e ThreadEvent, isRolledBack bool) error {
	var ids []string
	if e.needs != "" {
		ids = append(ids, e.needs)
	}
	if e.Removes || isRolledBack {
		ids = append(ids, "AS-ROLLBACK-1")
	}
	for _, id := range ids {
		needed := &features.Requirement{ID: id, Profile: features.CapabilityOf(id).Profile}
		if unclaimed := features.Claims(s.Target.Config.Supports).Lacks(needed); unclaimed != "" {
			return outcome.Skipped(reports.NotClaimed, unclaimed, "not claimed: %s needs %s, which supports does not name", e.Name,
				unclaimed)
		}
	}
	return nil
}

// examine makes the event happen on a new thread and makes the checks.
func (s *Situations) examine(ctx context.Context, e ThreadEvent, isRolledBack bool) (outcomes, error) {
	t, err := s.begin(ctx, e)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, join := range t.joins {
			join.Leave()
		}
	}()
	if err := e.happen(t, ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	if !e.Fails && len(t.completed) == 0 {
		return nil, outcome.Inapplicable("situations", "on this target, %s and no run has completed", e.Name)
	}
	if isRolledBack {
		t.first, err = s.Use(ctx, e.Name, false)
		if err != nil {
			return nil, err
		}
	}
	found := outcomes{}
	for _, c := range ThreadChecks {
		if (c.stage == rollback) == isRolledBack && c.leftOut(e) == "" && s.Selected.needs(e, c) {
			found[c.Step] = t.check(ctx, c)
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// check makes a check. It checks for the effect of a rollback only if rollbacks work at all.
func (t *Thread) check(ctx context.Context, c ThreadCheck) error {
	err := c.judge(t, ctx)
	if c.about == removedRuns && outcome.Is(err, reports.Failed) {
		return outcome.Unless(ctx, err, t.server.RollbackActs)
	}
	return err
}

// begin returns a new thread at the agent server of the event.
func (s *Situations) begin(ctx context.Context, e ThreadEvent) (t *Thread, err error) {
	t = &Thread{Situations: s}
	t.server, err = s.serverOf(ctx, e)
	if err != nil {
		return nil, err
	}
	if err := t.server.PlainRunsWork(ctx); err != nil {
		return nil, err
	}
	var metadata map[string]any
	if e.hasMetadata {
		metadata = map[string]any{target.MarkKey: s.Target.Name("situation")}
	}
	t.Thread, err = t.server.CreateThread(ctx, t.owner(), metadata)
	if err != nil {
		return nil, err
	}
	return t, t.Usable()
}

// caller returns the caller that a step names. If it is a user, the server must serve the user's own objects, because
// otherwise a refusal proves nothing.
func (t *Thread) caller(ctx context.Context, name string) (target.Caller, error) {
	who, err := t.Target.Caller(name)
	if err == nil && name == target.TheOtherUser {
		err = t.server.OtherIsLetIn(ctx, who)
	}
	return who, err
}

func (s *Situations) serverOf(ctx context.Context, e ThreadEvent) (*agent.Server, error) {
	if !e.afterUpdate {
		return s.Agents.AgentServer(ctx)
	}
	d, err := s.Plane.Shared(ctx, s.Plane.Fixtures.Updated)
	if err != nil {
		return nil, err
	}
	h, err := s.Plane.Poll(ctx, d.ID, d.Latest(), plane.IsDone)
	if err != nil {
		return nil, err
	}
	if err := s.Plane.CheckUsable(h); err != nil {
		return nil, err
	}
	return s.Agents.AgentOf(ctx, d)
}
