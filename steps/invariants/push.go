package invariants

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// buildOnPush is the path of the field in a deployment and in the requests that set it.
const buildOnPush = "source_config.build_on_push"

// pushes judges build_on_push of deployments (section 2). It ignores reads that were sent within patience after the last
// write, and reads during a write.
type pushes struct {
	patience time.Duration
	writes   map[string][]pushWrite // by deployment
	recorded bool                   // the record is a recording of other clients, which may have sent more requests
}

// pushWrite is a creation or an update that was not refused.
type pushWrite struct {
	sent, ended time.Time // ended is zero if the server may still carry it out
	isDone      bool      // it returned 2xx, and not 202
	set         gjson.Result
	toTag       bool // it sets a tag, so the server may change build_on_push to false
}

func newPushes(patience time.Duration) *pushes {
	return &pushes{patience: patience, writes: map[string][]pushWrite{}}
}

func (p *pushes) note(s *seen) {
	if id := exchange.IDKey(deploymentOf(s)); isWrite(s) && s.Status/100 != 4 && id != "" {
		w := pushWrite{sent: s.Sent, ended: s.Ended, isDone: s.ok() && s.Status != http.StatusAccepted, set: s.request.Get(buildOnPush),
			toTag: isTag(s.request)}
		if s.Status == 0 || s.Status >= http.StatusInternalServerError {
			w.ended = time.Time{}
		}
		p.writes[id] = append(p.writes[id], w)
	}
}

// last returns the last write before a read of a deployment that may have changed build_on_push: it names the field or a
// tag. It returns false if a write may not have taken effect yet.
func (p *pushes) last(s *seen) (last pushWrite, isSettled bool) {
	for _, w := range p.writes[exchange.IDKey(s.In("deployment_id"))] {
		if !w.sent.Before(s.Ended) {
			continue
		}
		if w.ended.IsZero() || s.Sent.Before(w.ended.Add(p.patience)) {
			return last, false
		}
		if mayChange := w.set.Exists() || w.toTag; mayChange && !w.sent.Before(last.sent) {
			last = w
		}
	}
	return last, true
}

// isTag reports whether the ref of a deployment is a tag.
func isTag(deployment gjson.Result) bool {
	return strings.HasPrefix(deployment.Get(sourceConfig+".repo_ref").Str, "refs/tags/")
}

// checkTag judges that no deployment has both a tag and build_on_push true.
func (p *pushes) checkTag(t *tally, s *seen) {
	if s.Op.ID != "get-deployment" || !s.ok() || !isTag(s.response) {
		return
	}
	if _, isSettled := p.last(s); !isSettled {
		return
	}
	t.judged++
	if s.response.Get(buildOnPush).Type == gjson.True {
		t.violated(s, outcome.WrongValue, "/source_config/build_on_push", "A deployment has build_on_push true with a tag as its repo_ref",
			"build_on_push false", "build_on_push true")
	}
}

// checkSet judges that a deployment shows the value of the last write. A target may keep false if the ref is a tag.
func (p *pushes) checkSet(t *tally, s *seen) {
	shown := s.response.Get(buildOnPush)
	if s.Op.ID != "get-deployment" || !s.ok() || !shown.IsBool() || isTag(s.response) || p.recorded {
		return
	}
	last, isSettled := p.last(s)
	if !isSettled || !last.isDone || !last.set.IsBool() {
		return
	}
	t.judged++
	if shown.Type != last.set.Type {
		t.violated(s, outcome.WrongValue, "/source_config/build_on_push",
			fmt.Sprintf("A deployment shows build_on_push %s after it was set to %s", shown.Raw, last.set.Raw),
			"build_on_push "+last.set.Raw, "build_on_push "+shown.Raw)
	}
}
