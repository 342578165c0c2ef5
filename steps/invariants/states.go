package invariants

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/outcome"
)

// states judges that no response shows a state of a thread that never existed (section 4). Within patience after a write,
// a read may show the state before or after that write, but no other state. Lists of threads are not judged, because the
// interface defines neither their order nor the size of a page.
type states struct {
	*refused // of the same record

	shown map[*threadRun]time.Time // time at which a state first contained the last message of a completed run
}

func newStates(r *refused) *states { return &states{refused: r, shown: map[*threadRun]time.Time{}} }

// holdsText reports whether a state has a message that contains a text.
func holdsText(s *seen, text string) bool {
	for _, m := range s.response.Get("values.messages").Array() {
		if strings.Contains(m.Get("content").String(), text) {
			return true
		}
	}
	return false
}

// checkThreadState judges that a state contains the last message of a completed run or of a later run, if an earlier
// state has shown it. It does not judge the messages of runs with rollback, of runs that may fail, and of earlier runs.
func (st *states) checkThreadState(t *tally, s *seen) {
	key := objectKey(s)
	if s.Op.ID != "get-state" || !s.shows() || s.Wrong || st.owners[key] != s.Caller.Name {
		return
	}
	t.judged++
	if isAfter(st.changed, key, s) {
		return
	}
	for _, g := range st.latestRuns(key, s.Ended) {
		text, ended := g.plain(), st.endOf(g)
		hasSettled := !ended.IsZero() && ended.Add(st.revisions.patience).Before(s.Sent)
		shown, isShown := st.shown[g]
		switch {
		case text == "":
			return
		case holdsText(s, text):
			if hasSettled {
				keepEarliest(st.shown, g, s.Ended)
			}
			return
		case g.isRollback || g.mayFail:
			return
		case hasSettled && isShown && shown.Before(s.Sent):
			t.violated(s, outcome.MissingItem, "/values/messages", "The thread state lacks a completed run that it had shown before",
				fmt.Sprintf("the message %q of run %s, or that of a later run", text, safe.ShortIDs(g.id)), "a state without it")
			return
		}
	}
}
