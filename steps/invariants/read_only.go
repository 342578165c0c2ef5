package invariants

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// readOnly judges that no revision shows a read-only value from a request, and no deployment a commit id or a latest
// revision from one (section 2). If a response showed the value before the request, the request is not its source.
type readOnly struct {
	revisions *revisions
	sent      map[string][]sentValue // by the key of the deployment
	shown     map[string]time.Time   // time at which a response first showed a value: see shownKey
}

// sentValue is a read-only value in a request that was not refused.
type sentValue struct {
	*write
	path  string // in the request
	value string
}

// ofRevisions are the read-only fields of a revision. ofDeployments are the read-only fields of a deployment that are
// about its revisions.
var (
	ofRevisions   = []string{"id", "created_at", "updated_at", "status", sourceConfig + "." + commit}
	ofDeployments = []string{"latest_revision_id", sourceConfig + "." + commit}
)

// shownKey returns the key of a value that a revision or a deployment shows.
func shownKey(id, path, value string) string {
	return exchange.IDKey(id) + " " + path + " " + exchange.IDKey(value)
}

func newReadOnly(r *revisions) *readOnly {
	return &readOnly{revisions: r, sent: map[string][]sentValue{}, shown: map[string]time.Time{}}
}

// isWrite reports whether a request may set values of a deployment.
func isWrite(s *seen) bool { return s.Op.ID == "create-deployment" || s.Op.ID == "update-deployment" }

// deploymentOf returns the id of the deployment of a request, or of the one that it created.
func deploymentOf(s *seen) string {
	if s.Op.ID == "create-deployment" {
		return s.response.Get("id").Str
	}
	return s.In("deployment_id")
}

// sentIn returns the read-only values in a request.
func sentIn(s *seen, w *write) (all []sentValue) {
	for _, path := range append(slices.Clone(ofRevisions), ofDeployments[0]) {
		if value := s.request.Get(path); value.Type == gjson.String && value.Str != "" {
			all = append(all, sentValue{w, path, value.Str})
		}
	}
	return all
}

func (r *readOnly) note(s *seen) {
	if isWrite(s) && s.Status/100 != 4 && deploymentOf(s) != "" {
		w := &write{exchange: s.ID, sent: s.Sent, ended: s.Ended, deployment: deploymentOf(s), patch: s.Op.ID == "update-deployment"}
		key := exchange.IDKey(w.deployment)
		r.sent[key] = append(r.sent[key], sentIn(s, w)...)
	}
	for _, o := range objectsIn(s) {
		for _, path := range o.paths {
			keepEarliest(r.shown, shownKey(o.id, path, o.Get(path).String()), s.Ended)
		}
	}
}

// shownObject is a revision or a deployment in a response, with the paths of the values to judge.
type shownObject struct {
	gjson.Result
	id    string
	paths []string
}

// objectsIn returns the revisions or the deployment in a response. The response to an update is ignored, because it may
// repeat the request. In the response to a creation, latest_revision_id is ignored, because the response sets it.
func objectsIn(s *seen) (all []shownObject) {
	switch {
	case !s.ok():
		return nil
	case s.Op.ID == "get-revision":
		return []shownObject{{s.response, s.In("revision_id"), ofRevisions}} // the response may have the id of another revision
	case s.Op.ID == "get-deployment":
		return []shownObject{{s.response, deploymentOf(s), ofDeployments}}
	case s.Op.ID == "create-deployment":
		return []shownObject{{s.response, deploymentOf(s), []string{sourceConfig + "." + commit}}}
	}
	for id, revision := range shownIn(s) {
		all = append(all, shownObject{revision, id, ofRevisions})
	}
	return all
}

func (r *readOnly) check(t *tally, s *seen) {
	if isWrite(s) && s.Status/100 == 4 && len(sentIn(s, nil)) > 0 {
		t.judged++ // a refused request sets nothing
	}
	ofDeployment := r.sent[exchange.IDKey(deploymentOf(s))]
	if len(ofDeployment) == 0 {
		return
	}
	for _, o := range objectsIn(s) {
		for _, sent := range ofDeployment {
			got := o.Get(sent.path)
			isLater := !s.Sent.Before(sent.sent)
			isJudged := (sent.path != "status" || r.isFixed(o.id, sent, s)) && !r.mayKnow(o.id, sent)
			if !isLater || !isJudged || got.Type != gjson.String || !slices.Contains(o.paths, sent.path) {
				continue
			}
			t.judged++
			first := r.shown[shownKey(o.id, sent.path, got.Str)]
			if sameText(got.Str, sent.value) && !first.Before(sent.sent) {
				name := sent.path[strings.LastIndexByte(sent.path, '.')+1:]
				by := "POST"
				if sent.patch {
					by = "PATCH"
				}
				t.violated(s, outcome.WrongValue, pointerIn(s, strings.ReplaceAll(sent.path, ".", "/")), by+" sets the read-only "+name,
					name+" set by the server", fmt.Sprintf("%q, which the %s sent", got.Str, by))
			}
		}
	}
}

// mayKnow reports whether the client of a recording may have sent a value that the server would show anyway. Clients send
// objects back that they have read, from this deployment or another one, and know commits from git. A status may be the
// result of the build. Values of an object that the request itself created cannot be known.
func (r *readOnly) mayKnow(id string, sent sentValue) bool {
	switch {
	case !r.revisions.recorded:
		return false
	case sent.path == "status":
		return !sent.patch
	case sent.path == sourceConfig+"."+commit:
		return true
	case exchange.SameID(id, sent.deployment):
		return sent.patch
	}
	by := r.revisions.revision(id).by
	return by == nil || by.exchange != sent.exchange || !r.revisions.isCertain(by)
}

// isFixed reports whether a status in a request is the only possible source of the status of a revision. This is so if
// the revision had settled before the request, or if the request created it and no later update can have superseded it. A
// later revision may change the status of an earlier one that was DEPLOYED.
func (r *readOnly) isFixed(id string, sent sentValue, s *seen) bool {
	if !sent.patch {
		return !r.revisions.wasUpdated(sent.deployment, sent.ended, s.Ended)
	}
	known := r.revisions.revision(id)
	isSettled := !known.settled.IsZero() && known.settled.Before(sent.sent)
	return isSettled && r.revisions.isCertain(known.by) && !r.revisions.wasReplaced(known.by, s.Ended)
}

// sameText reports whether two values are the same text, id or time.
func sameText(a, b string) bool {
	one, err := time.Parse(time.RFC3339Nano, a)
	other, otherErr := time.Parse(time.RFC3339Nano, b)
	return exchange.SameID(a, b) || err == nil && otherErr == nil && one.Equal(other)
}
