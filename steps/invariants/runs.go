package invariants

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/target"
)

// runs has the runs that agent servers accepted, and the facts that responses showed of them.
type runs struct {
	target   *target.Target
	all      []*threadRun            // in the order in which they were accepted
	byThread map[string][]*threadRun // by objectKey
}

// threadRun is a run that was accepted on a thread.
type threadRun struct {
	id             string
	base, thread   string // the address of the server, and the objectKey of the thread
	order          int    // the index of the run in all
	isRollback     bool
	isOther        bool   // the run may be of a graph other than the configured one
	mayFail        bool   // its input has the word fail, or its graph is not the configured one
	text           string // its last message
	sent, accepted time.Time
	earliest       time.Time // the earliest time of its end

	ended      time.Time // when a response first showed that it had ended; zero if unknown
	completed  time.Time // when its join returned 2xx; zero if unknown
	unfinished time.Time // time at which the last read that showed it in progress was sent; zero if there was none
}

func newRuns(t *target.Target) *runs {
	return &runs{target: t, byThread: map[string][]*threadRun{}}
}

func (r *runs) note(s *seen) {
	if !s.ok() {
		return
	}
	thread := objectKey(s)
	switch s.Op.ID {
	case "create-run":
		g := &threadRun{id: s.response.Get("run_id").String(), base: s.Base, thread: thread, order: len(r.all),
			isRollback: isRollback(s), isOther: isOtherGraph(r.target, s), mayFail: r.mayFail(s), text: lastText(s),
			sent: s.Sent, accepted: s.Ended, earliest: s.Sent.Add(holdOf(r.target, s))}
		r.all = append(r.all, g)
		r.byThread[thread] = append(r.byThread[thread], g)
	case "join-run", "get-run":
		for _, g := range r.byThread[thread] {
			if g.id == s.In("run_id") {
				g.noteRead(s, r.target.Recorded)
			}
		}
	}
}

// noteRead notes the facts in the response to a join or a GET of the run. A complete or unfinished status counts only in
// a recording, because its clients may not join runs.
func (g *threadRun) noteRead(s *seen, isRecorded bool) {
	isJoin, status := s.Op.ID == "join-run", s.response.Get("status").Str
	if (isJoin || slices.Contains(agent.EndStatuses, status)) && s.Ended.After(g.earliest) {
		keepEarlier(&g.ended, s.Ended)
	}
	isComplete := isJoin || isRecorded && slices.Contains(agent.CompleteStatuses, status)
	isUnfinished := !isJoin && isRecorded && slices.Contains(agent.UnfinishedStatuses, status)
	if isComplete && g.completed.IsZero() {
		g.completed = s.Ended
	}
	if isUnfinished && s.Sent.After(g.unfinished) {
		g.unfinished = s.Sent
	}
}

func isRollback(s *seen) bool {
	return s.request.Get("multitask_strategy").Str == agent.RollbackStrategy
}

// lastText returns the last message of a request for a run.
func lastText(s *seen) string {
	all := s.request.Get("input.messages").Array()
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].Get("content").Str
}

// plainText is a text that every server has to accept: printable ASCII, not empty, and not long.
var plainText = regexp.MustCompile(`^[ -~]{1,1000}$`)

// plain returns the last message of a run, or "" if it is not a plain text.
func (g *threadRun) plain() string { return plainText.FindString(g.text) }

// isOtherGraph reports whether a run in a recording may be of a graph other than the conformance graph.
func isOtherGraph(t *target.Target, s *seen) bool { return t.Recorded && isOfOther(t, s) }

// isOfOther reports whether a request for a run names an assistant other than the configured one.
func isOfOther(t *target.Target, s *seen) bool {
	return s.request.Get("assistant_id").Str != t.Config.AssistantID
}

// mayFail reports whether the input of a run has the word fail, or its graph is not the configured one.
func (r *runs) mayFail(s *seen) bool {
	return isOfOther(r.target, s) || slices.Contains(strings.Fields(plainText.FindString(lastText(s))), agent.Fail)
}

// waits matches the words that hold a run of the conformance graph in progress.
var waits = regexp.MustCompile(`\bwait(?:-after-write)?=(\d+)`)

// holdOf returns the wait in the words of the last message of a run of the conformance graph.
func holdOf(t *target.Target, s *seen) time.Duration {
	found := waits.FindStringSubmatch(plainText.FindString(lastText(s)))
	if found == nil || isOtherGraph(t, s) {
		return 0
	}
	ms, err := strconv.Atoi(found[1])
	if err != nil { // too many digits
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// hold returns the minimum time for which the run stays in progress.
func (g *threadRun) hold() time.Duration { return g.earliest.Sub(g.sent) }

// latestRuns returns the runs of a thread that were requested before a time, the last one first.
func (r *runs) latestRuns(thread string, before time.Time) []*threadRun {
	all := slices.DeleteFunc(slices.Clone(r.byThread[thread]), func(g *threadRun) bool { return !g.sent.Before(before) })
	slices.SortFunc(all, func(a, b *threadRun) int { return b.sent.Compare(a.sent) })
	return all
}

// endOf returns the latest time at which a run ended, or zero if unknown. A rollback ends all earlier runs.
func (r *runs) endOf(g *threadRun) time.Time {
	end := g.ended
	for _, other := range r.byThread[g.thread] {
		if other.isRollback && other.sent.After(g.accepted) {
			keepEarlier(&end, other.accepted)
		}
	}
	return end
}
