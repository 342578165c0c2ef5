//go:build nightly

package steps_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// wrong is a server that deviates in one way: the independent one behind a proxy that changes requests and answers.
type wrong struct {
	name  string
	fails []string // exactly these requirements
	alone bool     // one scenario at a time
	slow  bool     // an answer may take as long as a run
	layer func(p *proxy, next http.Handler) http.Handler
}

func wrongServers() []wrong {
	return []wrong{
		{name: "rollback only marks the run interrupted", fails: []string{"AS-ROLLBACK-2", "AS-ROLLBACK-4", "AS-ROLLBACK-5", "AS-ROLLBACK-8"}, layer: keepsRolledBack(func(*seenRun) bool { return true })},
		{name: "rollback keeps the prior messages", fails: []string{"AS-ROLLBACK-3", "AS-ROLLBACK-4", "AS-ROLLBACK-5", "AS-ROLLBACK-8"}, layer: keepsMessages},
		{name: "rollback works for pending runs only", fails: []string{"AS-ROLLBACK-2", "AS-ROLLBACK-4", "AS-ROLLBACK-8"}, layer: keepsRolledBack(func(r *seenRun) bool { return len(r.messages) > 1 })},
		{name: "rollback works for running runs only", fails: []string{"AS-ROLLBACK-5", "AS-ROLLBACK-8"}, layer: keepsRolledBack(func(r *seenRun) bool { return len(r.messages) <= 1 })},
		{name: "a run comes back after its natural end", fails: []string{"AS-ROLLBACK-4", "AS-ROLLBACK-5", "AS-ROLLBACK-8"}, layer: comesBack},
		{name: "rollback is treated as enqueue", fails: []string{"AS-ROLLBACK-1"}, layer: strategy("enqueue")},
		{name: "rollback is treated as reject", fails: []string{"AS-ROLLBACK-1"}, layer: strategy("reject")},
		{name: "rollback is treated as interrupt", fails: []string{"AS-ROLLBACK-2", "AS-ROLLBACK-3", "AS-ROLLBACK-4", "AS-ROLLBACK-5", "AS-ROLLBACK-8"}, layer: strategy("interrupt")},
		{name: "a run is answered when it is over", fails: []string{"AS-RUN-1"}, layer: waitsOut, slow: true},
		{name: "join answers at once", fails: []string{"AS-RUN-4"}, layer: joinsAtOnce},
		{name: "join hangs", fails: []string{"AS-RUN-4", "AS-RUN-5"}, layer: joinHangs},
		{name: "messages have a role in place of a type", fails: []string{"AS-CONTRACT-get-state", "AS-STATE-1"}, layer: replaceInState(`"type":`, `"role":`)},
		{name: "human messages are lost", fails: []string{"AS-STATE-2"}, layer: losesHuman},
		{name: "the state is served without credentials", fails: []string{"AS-AUTH-1"}, layer: asFirstUser(noToken, "GET", "/state")},
		{name: "join is served without credentials", fails: []string{"AS-AUTH-1"}, layer: asFirstUser(noToken, "GET", "/join")},
		{name: "runs are taken without credentials", fails: []string{"AS-AUTH-1"}, layer: asFirstUser(noToken, "POST", "/runs")},
		{name: "another scheme is taken", fails: []string{"AS-AUTH-2"}, layer: asFirstUser(anotherScheme, "GET", "")},
		{name: "a foreign state can be read", fails: []string{"AS-AUTHZ-1"}, layer: asFirstUser(secondUser, "GET", "/state")},
		{name: "a foreign run can be joined", fails: []string{"AS-AUTHZ-1"}, layer: asFirstUser(secondUser, "GET", "/join")},
		{name: "a foreign thread takes runs", fails: []string{"AS-AUTHZ-2"}, layer: asFirstUser(secondUser, "POST", "/runs")},
		{name: "a search filter replaces the owner filter", fails: []string{"AS-AUTHZ-3"}, layer: searchesAll},
		{name: "the first user is taken for the second", fails: []string{"AS-AUTH-7"}, layer: cachesUser},
		{name: "the owner can be spoofed", fails: []string{"AS-AUTHZ-4"}, layer: spoofsOwner},
		{name: "a run is found under any thread", fails: []string{"AS-RUN-8", "AS-RUN-3"}, layer: foundAnywhere},
		{name: "rollback deletes completed runs", fails: []string{"AS-ROLLBACK-6"}, layer: forgetsCompleted},
		{name: "a run that is refused without valid credentials is done", fails: []string{"AS-AUTH-4"}, layer: refusesAndDoes(noToken, "/runs")},
		{name: "a thread that is refused without valid credentials is made", fails: []string{"AS-AUTH-4"}, layer: refusesAndDoes(noToken, "/threads")},
		{name: "a foreign run that is refused is done", fails: []string{"AS-AUTHZ-2"}, layer: refusesAndDoes(secondUser, "/runs")},
		{name: "join of a completed run hangs", fails: []string{"AS-RUN-5"}, layer: hangsForCompleted},
		{name: "join of a run that is rolled back hangs", fails: []string{"AS-ROLLBACK-9"}, layer: hangsForRolledBack},
		{name: "custom fields do not reach the graph", fails: []string{"AS-AUTH-6"}, layer: replaceInState(`role`, `rule`)},
		{name: "the state of a thread is that of its last run", fails: []string{"AS-STATE-3"}, layer: showsLastRun},
		{name: "rollback deletes a run of another thread", fails: []string{"AS-ROLLBACK-7"}, layer: forgetsBystander, alone: true},
	}
}

// TestWrongServers holds every wrong server to be caught, by the requirements that name what is wrong and no others.
func TestWrongServers(t *testing.T) {
	together(t, wrongServers(), func(w wrong) string { return w.name }, func(t *testing.T, w wrong) {
		s := startIndependent(t, independent.Options{})
		res := judgeAgent(t, s, w.layer, func(o *steps.Options) {
			if w.alone {
				o.Concurrency = 1
			}
			if w.slow {
				o.Config.Timeouts.Request = 10 * time.Second
			}
		})
		failed := map[string]bool{}
		for _, q := range res.Requirements {
			if q.Verdict == reports.Failed {
				failed[q.ID] = true
			}
		}
		want := slices.Sorted(slices.Values(w.fails))
		if !assert.Equal(t, want, slices.Sorted(maps.Keys(failed))) {
			for _, f := range res.Findings {
				t.Logf("%s %s: expected %s, got %s", f.Requirement, f.Scenario, f.Expected, f.Actual)
			}
		}
		for _, q := range res.Requirements {
			if q.Verdict == reports.Inconclusive || q.Verdict == reports.Blocked {
				t.Logf("%s %s: %s", q.Verdict, q.ID, q.Reason)
			}
		}
	})
}
