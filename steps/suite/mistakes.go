package suite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// blockRejected blocks, at the end of a run, scenarios of a side that refused every request with the configured
// credentials: the cause is the configuration, not the target. It returns these sides, and why.
func (r *run) blockRejected() (sides []string, why string) {
	for _, side := range []spec.Side{spec.AgentServer, spec.ControlPlane} {
		status := refusedAll(r.target, side)
		if status == 0 {
			continue
		}
		var keys []string
		keys, why = rejection(r.target, side, status)
		sides = append(sides, string(side))
		for _, s := range r.selected {
			if v := r.verdicts[s.Key()]; needsSide(r.target, s, side) && r.followsFromRejection(s, v.Outcome) {
				v.Outcome = outcome.Blocked("%s", why).By(reports.ByKey, keys...)
			}
		}
	}
	return sides, why
}

// askOnceMore asks an agent server that has refused every request with the credentials of the configuration for an
// unknown thread: one operation that refuses everybody is a fault of the target, not of the credentials. A selection
// may hold no other.
func (r *run) askOnceMore(ctx context.Context) {
	if ctx.Err() != nil || refusedAll(r.target, spec.AgentServer) == 0 {
		return
	}
	ctx = evidence.WithScenario(ctx, "fixture: the credentials of the users", 0)
	if s, err := r.agents.AgentServer(ctx); err == nil {
		_, _ = s.State(ctx, s.Owner(), &agent.Thread{ID: target.UnknownID()}) // the record holds the answer
	}
}

// refusedAll returns the status with which the side has refused every request with the credentials of the
// configuration, 0 where it accepted any, or got no request.
func refusedAll(t *target.Target, side spec.Side) (status int) {
	most := 0
	for s, n := range t.Collector.Trusted(side) {
		if !t.Rejects(side, s) {
			return 0
		}
		if n > most {
			status, most = s, n
		}
	}
	return status
}

// needsSide tells whether a scenario needs the side to accept its credentials. The control plane also returns the URL
// of the agent server, unless the configuration has it.
func needsSide(t *target.Target, s *features.Scenario, side spec.Side) bool {
	profile := s.Requirement.Profile
	if side == spec.AgentServer {
		return profile != features.ControlPlane
	}
	ofPlane := func(shared string) bool { return shared != features.AgentServer }
	return profile != features.AgentServer || t.Config.AgentTarget == "" || slices.ContainsFunc(s.Terms.Shares, ofPlane)
}

// followsFromRejection tells whether the outcome of a scenario follows from rejected credentials: it could not be
// judged, it failed by such a refusal, or passed by one. What judges all answers at the end keeps its outcome.
func (r *run) followsFromRejection(s *features.Scenario, o *outcome.Outcome) bool {
	switch {
	case o.Verdict == reports.Passed:
		return !s.Is(features.TagLast) && !s.Terms.Anonymous
	case o.Verdict == reports.Blocked || o.Verdict == reports.Inconclusive:
		return true
	case o.Verdict != reports.Failed || s.Is(features.TagLast):
		return false
	}
	return !slices.ContainsFunc(o.Violations, func(v outcome.Violation) bool {
		return !r.target.Collector.Observation(v.Exchange).Trusted
	})
}

// rejection names the keys of the credentials that were sent to a side, and says why that is blocked, with the remedy.
func rejection(t *target.Target, side spec.Side, status int) (keys []string, why string) {
	c, who := t.Config, "the agent server"
	var remedies []string
	switch {
	case side == spec.ControlPlane:
		who = "the target"
		remedies = []string{t.Sent("credentials", c.Credentials)}
		for _, each := range t.Given(target.Preferred(c.Credentials)) {
			keys = append(keys, "credentials."+each.Key)
		}
	case len(c.Users) == 0:
		return []string{"users"}, fmt.Sprintf("%s refuses callers without credentials (status %d); set users", who, status)
	default:
		for i := range min(2, len(c.Users)) {
			key, remedy := c.CredentialOf(i)
			keys, remedies = append(keys, key), append(remedies, remedy)
		}
	}
	return keys, fmt.Sprintf("%s refuses %s (status %d); set %s", who, strings.Join(keys, " and "), status,
		strings.Join(remedies, " and "))
}

// blockUnknownWords blocks, at the end of a run, what failed over words that `vocabulary` maps to something that the
// target has never shown: the cause is the configuration, not the target. What failed over anything else stays
// failed. It says what is wrong with these words, and with those of which the target uses the interface's own instead:
// then the target is known wrongly.
func (r *run) blockUnknownWords() (why string) {
	seen := r.target.Collector.Words()
	mistaken := seen.Unchanged()
	for _, s := range r.selected {
		v := r.verdicts[s.Key()]
		if v.Verdict != reports.Failed {
			continue
		}
		var doubtful []string
		rest := slices.DeleteFunc(slices.Clone(v.Violations), func(violation outcome.Violation) bool {
			words := r.doubtfulWords(seen, s, violation)
			doubtful = append(doubtful, words...)
			return len(words) > 0
		})
		switch {
		case len(doubtful) == 0:
		case len(rest) > 0:
			reduced := *v.Outcome
			reduced.Violations = rest
			v.Outcome = &reduced
		default:
			doubtful = slices.Compact(slices.Sorted(slices.Values(doubtful)))
			v.Outcome = outcome.Blocked("%s", aboutWords(r.target, seen, doubtful))
			for _, name := range doubtful {
				v.By(reports.ByKey, "vocabulary."+name)
			}
			mistaken = append(mistaken, doubtful...)
		}
	}
	slices.Sort(mistaken)
	return aboutWords(r.target, seen, slices.Compact(mistaken))
}

// doubtfulWords are the words on which a violation may depend and which the target has never shown: the violation's own
// where the record of the run is judged, else those of the exchanges that were made under When and Then.
func (r *run) doubtfulWords(seen *evidence.Words, s *features.Scenario, v outcome.Violation) []string {
	if s.Terms.Record {
		return seen.Doubtful(v.Words...)
	}
	doubtful := seen.DoubtfulIn(v.Exchange)
	for _, x := range r.target.Collector.SentBy(s.Key() + " " + s.Name) {
		if x.Part != reports.SetUp {
			doubtful = append(doubtful, seen.DoubtfulIn(x.ID)...)
		}
	}
	return doubtful
}

// aboutWords says what is wrong with entries of `vocabulary`.
func aboutWords(t *target.Target, seen *evidence.Words, names []string) string {
	var texts []string
	for _, name := range names {
		as := t.Client.Words.OnWire(name)
		format := "the target never showed %[2]q: correct vocabulary.%[1]s"
		if slices.Contains(seen.Unchanged(), name) {
			format = "the target uses %[1]q and never %[2]q: remove or correct vocabulary.%[1]s"
		}
		texts = append(texts, fmt.Sprintf(format, name, as))
	}
	return strings.Join(texts, "; ")
}
