package invariants

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
)

// refused finds valid requests that were refused with a 4xx status. A request is valid if the same caller was served the
// same one before. Runs and updates, whose bodies differ, are valid if their content was accepted before and nothing is in
// progress on the thread or deployment.
type refused struct {
	*revisions // of the same record
	assistant  string
	times      map[string]time.Time // when a request was first served, or a thread or deployment was first changed otherwise
	runs       map[string][]*threadRun
	owners     map[string]string // the callers who created the threads and deployments
}

// threadRun is a run that was accepted on a thread.
type threadRun struct {
	id       string
	rollback bool
	sent     time.Time
	accepted time.Time
	least    time.Time // the graph is told to end later
	ended    time.Time // zero if unknown
}

func newRefused(c *config.Config, r *revisions) *refused {
	return &refused{revisions: r, assistant: c.AssistantID, times: map[string]time.Time{},
		runs: map[string][]*threadRun{}, owners: map[string]string{}}
}

// object names the thread or deployment of a request.
func object(s *seen) string { return s.Base + " " + s.In("thread_id") + s.In("deployment_id") }

// same names a request for comparison with others.
func same(s *seen) string {
	return strings.Join([]string{s.Caller.Name, s.Method, s.Base, s.Path, s.Query, s.Request}, " ")
}

// sets names what sets a source field to a value.
func sets(field string, value gjson.Result) string { return field + " = " + value.Raw }

func (r *refused) noteTime(key string, at time.Time) {
	if known, is := r.times[key]; !is || at.Before(known) {
		r.times[key] = at
	}
}

func (r *refused) note(s *seen) {
	// What vendor extensions do to a thread or deployment is unknown.
	if s.Method == http.MethodDelete || s.Op.Field && s.Method != http.MethodGet {
		r.noteTime("changed "+object(s), s.Sent)
	}
	if !s.ok() {
		return
	}
	r.noteTime(same(s), s.Ended)
	switch s.Op.ID {
	case "create-thread":
		thread := s.Base + " " + s.answer.Get("thread_id").String()
		r.owners[thread] = s.Caller.Name
		r.noteTime("created "+thread, s.Ended)
	case "create-run":
		g := &threadRun{id: s.answer.Get("run_id").String(), rollback: isRollback(s), sent: s.Sent, accepted: s.Ended,
			least: s.Sent.Add(holdOf(s))}
		r.runs[object(s)] = append(r.runs[object(s)], g)
		r.noteTime("created "+object(s)+" "+g.id, s.Ended)
	case "join-run", "get-run":
		ends := []string{"success", "error", "timeout", "interrupted"}
		hasEnded := s.Op.ID == "join-run" || slices.Contains(ends, s.answer.Get("status").Str)
		for _, g := range r.runs[object(s)] {
			if g.id == s.In("run_id") && hasEnded && s.Ended.After(g.least) {
				first(&g.ended, s.Ended)
			}
		}
	case "create-deployment", "update-deployment":
		deployment := s.Base + " " + s.answer.Get("id").Str
		if s.Op.ID == "create-deployment" {
			r.owners[deployment] = s.Caller.Name
			r.noteTime("created "+deployment, s.Ended)
		}
		r.noteTime("created "+s.Base+" "+s.In("deployment_id")+" "+s.answer.Get("latest_revision_id").Str, s.Ended)
		for field, value := range s.request.Get(sourceConfig).Map() {
			r.noteTime(sets(field, value), s.Ended)
		}
	}
}

func isRollback(s *seen) bool { return s.request.Get("multitask_strategy").Str == "rollback" }

// holdOf returns how long the graph is told to stay in progress by the last message of a run.
func holdOf(s *seen) time.Duration {
	all := s.request.Get("input.messages").Array()
	if len(all) == 0 {
		return 0
	}
	found := waits.FindStringSubmatch(all[len(all)-1].Get("content").Str)
	if found == nil {
		return 0
	}
	ms, _ := strconv.Atoi(found[1]) // the expression matches digits; a number that is too long holds for no time
	return time.Duration(ms) * time.Millisecond
}

// checks returns the check for one operation, or for updates that set a source field.
func (r *refused) checks(operation, field string) func(t *tally, s *seen) {
	return func(t *tally, s *seen) {
		is := s.Op.ID == operation || operation == "list-threads" && s.Op.ID == "search-threads"
		if !is || field != "" && s.request.Get(sourceConfig+"."+field).Type != gjson.String || !s.Keeps(evidence.Kept) {
			return
		}
		switch {
		case s.ok():
			t.judged++
		case s.Status/100 == 4 && r.isValid(s) && !r.isExcused(s):
			t.judged++
			t.violated(s, "", "a valid request was refused", "status 2xx", fmt.Sprintf("status %d", s.Status))
		}
	}
}

// isValid reports whether the suite knows that a request is one to serve.
func (r *refused) isValid(s *seen) bool {
	known := func(key string) bool {
		at, is := r.times[key]
		return is && at.Before(s.Sent)
	}
	switch s.Op.ID {
	case "create-run":
		return r.owners[object(s)] == s.Caller.Name && r.isOrdinary(s)
	case "update-deployment":
		if r.owners[object(s)] != s.Caller.Name {
			return false
		}
		fields := s.request.Get(sourceConfig).Map()
		for field, value := range fields {
			if !known(sets(field, value)) || strings.HasPrefix(value.Str, "refs/tags/") { // build_on_push may forbid a tag
				return false
			}
		}
		return len(fields) > 0 && len(s.request.Map()) == 1
	}
	// A read within patience after the creation may not find the object yet, although another one has.
	created, isOurs := r.times[strings.TrimSpace("created "+object(s)+" "+s.In("run_id")+s.In("revision_id"))]
	return known(same(s)) && (!isOurs || created.Add(r.patience).Before(s.Sent))
}

// plainText is a text that every server has to take: printable ASCII, not empty, and not long.
var plainText = regexp.MustCompile(`^[ -~]{1,1000}$`)

// isOrdinary reports whether a run has only what the interface names, and no text that a server may refuse.
func (r *refused) isOrdinary(s *seen) bool {
	for name := range s.request.Map() {
		if !slices.Contains([]string{"assistant_id", "input", "multitask_strategy"}, name) {
			return false
		}
	}
	messages := s.request.Get("input.messages").Array()
	for _, m := range messages {
		if !plainText.MatchString(m.Get("content").Str) {
			return false
		}
	}
	strategy := s.request.Get("multitask_strategy")
	return s.request.Get("assistant_id").Str == r.assistant && len(messages) > 0 && len(messages) < 10 &&
		(!strategy.Exists() || isRollback(s))
}

// isExcused reports whether a server may refuse a valid request at the time: while something is in progress on its thread
// or deployment, or after a vendor extension has changed that.
func (r *refused) isExcused(s *seen) bool {
	if at, is := r.times["changed "+object(s)]; is && at.Before(s.Ended) {
		return true
	}
	switch s.Op.ID {
	case "create-run", "get-state":
		return slices.ContainsFunc(r.runs[object(s)], func(g *threadRun) bool {
			mayBeInProgress := g.sent.Before(s.Ended) && (g.ended.IsZero() || g.ended.Add(r.patience).After(s.Sent))
			if isRollback(s) { // of rollbacks that are sent at the same time all but one may be refused
				return g.rollback && g.sent.Before(s.Ended) && g.accepted.After(s.Sent)
			}
			return mayBeInProgress
		})
	case "update-deployment":
		return !r.hasSettled(s)
	}
	return false
}

// hasSettled reports whether all revisions of the deployment were seen to have settled before a request, and no other
// update was under way.
func (r *refused) hasSettled(s *seen) bool {
	deployment := s.In("deployment_id")
	isOpen := func(u *write) bool {
		return u.sent.Before(s.Ended) && (u.ended.IsZero() || u.ended.After(s.Sent) || u.revision == "")
	}
	if slices.ContainsFunc(r.updates[deployment], isOpen) {
		return false
	}
	for _, revision := range r.byID {
		isOf := revision.by != nil && revision.by.deployment == deployment && revision.named.Before(s.Ended)
		if isOf && (revision.settled.IsZero() || revision.settled.After(s.Sent)) {
			return false
		}
	}
	return true
}
