package invariants

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// earlyJoins judges that no join returns before its run has ended (section 4). If the words of a run order a wait, the
// run lasts at least that long, provided that it completes and no other run of its thread interrupts it.
type earlyJoins struct {
	*refused // of the same record

	onTime int
	early  []earlyJoin
	whole  map[*threadRun]bool // completed runs: a state has shown all their messages, including the answer
}

// earlyJoin is a join that returned before the run could end.
type earlyJoin struct {
	*seen
	of *threadRun
}

// joinRule returns the rule that no join returns before its run has ended.
func (r *refused) joinRule() *invariant {
	j := &earlyJoins{refused: r, whole: map[*threadRun]bool{}}
	return &invariant{side: spec.AgentServer, check: j.check, end: j.judge, coveredBy: "AS-RUN-4 AS-ROLLBACK-*"}
}

func (j *earlyJoins) check(_ *tally, s *seen) {
	key := objectKey(s)
	if !s.shows() || s.Wrong || j.owners[key] != s.Caller.Name {
		return
	}
	for _, g := range j.byThread[key] {
		switch {
		case s.Op.ID == "get-state" && isWhole(s, g):
			j.whole[g] = true
		case s.Op.ID != "join-run" || g.id != s.In("run_id") || g.hold() == 0 || g.mayFail || j.isDisturbed(g, key, s):
		case s.Ended.Before(g.sent.Add(g.hold() * 19 / 20)): // the clock of the graph may be a little fast
			j.early = append(j.early, earlyJoin{s, g})
		default:
			j.onTime++
		}
	}
}

// judge judges nothing if all joins return early, because the graph may not understand the word for waiting. Scenarios
// judge a server that never waits.
func (j *earlyJoins) judge(t *tally) {
	t.judged = j.onTime + len(j.early)
	if j.onTime == 0 {
		return
	}
	for _, e := range j.early {
		if j.whole[e.of] {
			t.violated(e.seen, outcome.TooEarly, "", "The join of a run returns before the run has ended",
				fmt.Sprintf("a response after %s, when the run ends", e.of.hold()),
				fmt.Sprintf("a response after %s", e.Ended.Sub(e.of.sent).Round(time.Millisecond)))
		}
	}
}

// isDisturbed reports whether something else may have ended a run before a join returned: another run of its thread, or a
// request with an unknown effect.
func (j *earlyJoins) isDisturbed(g *threadRun, key string, join *seen) bool {
	return isAfter(j.changed, key, join) || slices.ContainsFunc(j.byThread[key], func(other *threadRun) bool {
		return other != g && other.accepted.After(g.sent) && other.sent.Before(join.Ended)
	})
}

// isWhole reports whether a state has the input of a run, followed by all messages that the run writes.
func isWhole(s *seen, g *threadRun) bool {
	text := g.plain()
	expected := 1 // the answer
	for _, word := range strings.Fields(text) {
		if word == agent.ToolCall || strings.HasPrefix(word, agent.EarlyWrite+"=") {
			expected++
		}
	}
	all := s.response.Get("values.messages").Array()
	at := slices.IndexFunc(all, func(m gjson.Result) bool { return strings.Contains(m.Get("content").String(), text) })
	if text == "" || at < 0 {
		return false
	}
	wrote := all[at+1:]
	next := slices.IndexFunc(wrote, func(m gjson.Result) bool { return m.Get("type").Str == messages.Human })
	if next >= 0 {
		wrote = wrote[:next]
	}
	return len(wrote) >= expected
}
