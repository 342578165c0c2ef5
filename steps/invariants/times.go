package invariants

import (
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/outcome"
)

// checkTimes judges that no read shows a revision whose updated_at is before its created_at. The scenarios judge only
// revisions that have settled.
func checkTimes(t *tally, s *seen) {
	if !s.shows() || s.Wrong {
		return
	}
	switch s.Op.ID {
	case "get-revision":
		checkTimesOf(t, s, s.response, "")
	case "list-revisions":
		for _, row := range s.response.Get("resources").Array() {
			checkTimesOf(t, s, row, "/resources/*")
		}
	}
}

func checkTimesOf(t *tally, s *seen, revision gjson.Result, pointer string) {
	created, updated := revision.Get("created_at"), revision.Get("updated_at")
	_, isCreated := judge.Instant(created)
	_, isUpdated := judge.Instant(updated)
	if !isCreated || !isUpdated { // the contract judges the format
		return
	}
	t.judged++
	if judge.IsBefore(updated, created) {
		t.violated(s, outcome.WrongValue, pointer+"/updated_at", "The updated_at of a revision is before its created_at",
			outcome.Shown(created)+", which is created_at, or later", outcome.Shown(updated))
	}
}
