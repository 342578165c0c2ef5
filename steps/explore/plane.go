package explore

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// controlPlane explores the half with deployments and revisions.
type controlPlane struct {
	target   *target.Target
	plane    *plane.Plane
	known    func(requirement string) bool
	fields   [][]string     // the values that an update may set, by field
	values   map[string]any // the configured values
	budget   atomic.Int64   // number of deployments that may still be created
	timedOut sync.Map       // requirements for which look has waited without success
}

// maxDeployments is the maximum number of deployments in a sequence.
const maxDeployments = 2

// maxShrinking is the maximum number of deployments that are created to shrink a failing sequence.
const maxShrinking = 20

// Deployments returns the maximum number of deployments that exploring the control plane creates with the given number of
// random operations. If it is 0, one sequence is explored. If deployments are limited, a sequence creates only one.
func Deployments(operations int, isLimited bool) int {
	sequences := (operations + perSequence - 1) / perSequence
	switch {
	case operations == 0:
		return len(pauses) * maxDeployments
	case isLimited:
		return sequences + maxShrinking
	default:
		return sequences*maxDeployments + maxShrinking
	}
}

// push is a field that an update may set in addition to those of the source. Its effect is not judged.
const push = "build_on_push false"

// NewControlPlane returns an explorer of the control plane, or the reason why it cannot be explored. The explorer creates
// at most the given number of deployments, within the budget of the test run.
func NewControlPlane(t *target.Target, p *plane.Plane, deployments int, known func(requirement string) bool) (*Explorer, error) {
	if err := p.Sources.CanCreate(); err != nil {
		return nil, err
	}
	c, other := t.Config, t.Config.Alternatives
	asked := plane.RevisionConfig(c.Create.Body)
	h := &controlPlane{target: t, plane: p, known: known, fields: imageFields}
	if c.Source() == config.GitHost {
		h.fields = repositoryFields
	}
	h.values = map[string]any{
		"repo_ref 1": asked["repo_ref"], "repo_ref 2": other.RepoRef, "repo_ref broken": other.BrokenRef,
		"graph_config_path 1": asked["graph_config_path"], "graph_config_path 2": other.GraphConfigPath,
		"image_uri 1": asked["image_uri"], "image_uri 2": other.ImageURI, "image_uri broken": other.BrokenImageURI,
		push: false, "image_uri digest": byDigest(asked["image_uri"]),
	}
	maps.DeleteFunc(h.values, func(_ string, value any) bool { return value == nil || value == "" })
	for _, name := range []string{"repo_ref null", "graph_config_path null", "image_uri null", "nothing"} {
		h.values[name] = nil
	}
	if c.MaxDeployments > 0 {
		deployments = min(deployments, c.MaxDeployments-len(t.Ledger.Left(evidence.Deployment)))
	}
	h.budget.Store(int64(deployments))
	return &Explorer{features.ControlPlane, planeURI, h.begin}, nil
}

// byDigest returns an image as a reference by digest, or "" if there is no image. No registry has the digest, so the
// build fails.
func byDigest(image any) string {
	uri, _ := image.(string)
	if uri == "" {
		return ""
	}
	at := strings.LastIndexByte(uri, '/') + 1 // a colon before it separates the port
	name, _, _ := strings.Cut(uri[at:], ":")
	name, _, _ = strings.Cut(name, "@")
	return uri[:at] + name + "@sha256:" + strings.Repeat("0123456789abcdef", 4)
}

// change returns the body of an update, and the fields of the source that it sets.
func (h *controlPlane) change(with string) (body map[string]any, source map[string]string) {
	from, of := map[string]any{}, map[string]any{}
	source = map[string]string{}
	for part := range strings.SplitSeq(with, " and ") {
		field, _, hasValue := strings.Cut(part, " ")
		value, isText := h.values[part].(string)
		if isText {
			source[field] = value
		}
		switch {
		case part == push:
			of[field] = false
		case hasValue:
			from[field] = h.values[part]
		}
	}
	return map[string]any{"source_revision_config": from, "source_config": of}, source
}

// planeSession is one sequence with its deployments.
type planeSession struct {
	*controlPlane
	deployments map[int]*deployment
}

// deployment is a deployment that the sequence has created.
type deployment struct {
	*plane.Deployment
	pasts      []past
	asked      int       // maximum number of revisions
	owner      string    // the requirement of the last write; a wrong number of revisions violates it
	staleUntil time.Time // reads before this time may show the state before the last write
	isOff      bool      // no history explains the last reads, but a known failure of the owner does
}

func (h *controlPlane) begin() session {
	return &planeSession{controlPlane: h, deployments: map[int]*deployment{}}
}

// strangers returns the callers that the server must refuse.
func (h *controlPlane) strangers() []int {
	all := []int{nobody, unknown}
	if len(h.target.Given(h.target.Config.OtherTenant)) > 0 {
		all = append(all, otherTenant)
	}
	return all
}

// strangersRequest returns the request of a caller that the server must refuse.
func (s *planeSession) strangersRequest(o Operation, t *deployment) exchange.Request {
	who := map[int]target.Sender{nobody: target.Nobody, unknown: target.UnknownKey, otherTenant: target.AnotherTenant}[o.Caller]
	method, path, body := http.MethodGet, plane.DeploymentPath(t.ID), any(nil)
	switch o.Verb {
	case update:
		method = http.MethodPatch
		body, _ = s.change(o.With)
	case getRevision:
		path = plane.RevisionPath(t.ID, t.pasts[0][o.Number-1].id)
	case listRevisions:
		path = plane.RevisionsPath(t.ID)
	}
	return s.target.ToControlPlane(who, method, path, body)
}

func (s *planeSession) applies(o Operation, group []Operation) bool {
	t := s.deployments[o.Object]
	isStranger := o.Caller != theClient
	switch {
	case (o.Verb == deploy) != (t == nil) || has(group, o.Object, deploy, settle):
		return false
	case isStranger && (!slices.Contains(s.strangers(), o.Caller) || o.Verb == deploy || o.Verb == settle):
		return false
	case o.Verb == deploy || o.Verb == settle:
		return o.Object < maxDeployments && !has(group, o.Object, vocabulary...)
	case o.Verb == update:
		unknown := func(part string) bool { _, known := s.values[part]; return !known }
		return t.asked < cmp.Or(s.target.Config.MaxRevisions, wholeList) &&
			!slices.ContainsFunc(strings.Split(o.With, " and "), unknown)
	case o.Verb == getRevision:
		return o.Number > 0 && o.Number <= len(t.pasts[0]) && t.pasts[0][o.Number-1].id != ""
	}
	return o.Verb == getDeployment || o.Verb == listRevisions
}

func (s *planeSession) send(ctx context.Context, d *done) (err error) {
	t := s.deployments[d.Object]
	if d.Caller != theClient {
		d.response, err = s.target.Client.Do(ctx, s.strangersRequest(d.Operation, t))
		return err
	}
	if d.isConcurrent() && t != nil { // otherwise concurrent reads could show the state before earlier writes
		if err := client.Sleep(ctx, time.Until(t.staleUntil)); err != nil {
			return err
		}
		client.Stagger(d.position)
	}
	switch d.Verb {
	case deploy:
		if s.budget.Add(-1) < 0 {
			return outcome.OverBudget("max_deployments", s.target.Config.MaxDeployments)
		}
		d.made, err = s.plane.Create(ctx, "explored", nil)
	case settle:
		err = s.plane.Settle(ctx, t.ID)
	case update:
		body, _ := s.change(d.With)
		request := s.target.ToControlPlane(target.TheClient, http.MethodPatch, plane.DeploymentPath(t.ID), body)
		d.response, err = s.target.Client.Do(ctx, request)
		if err == nil && d.response.IsRefused() && !d.isConcurrent() { // the target may be busy with the previous revision
			if err := s.plane.Settle(ctx, t.ID); err != nil {
				return err
			}
			d.response, err = s.target.Client.Do(ctx, request)
		}
	case getDeployment:
		d.response, err = s.plane.GetDeployment(ctx, t.ID)
	case getRevision:
		d.id = t.pasts[0][d.Number-1].id
		d.response, err = s.plane.GetRevision(ctx, t.ID, d.id)
	case listRevisions:
		whole := plane.PageOf(wholeList, 0)
		queries := []string{whole}
		if d.With != "" { // compared with the whole list before and after it
			queries = []string{whole, parameters(d.With).Encode(), whole}
		}
		d.lists = make([]*exchange.Response, len(queries))
		for i, query := range queries {
			d.lists[i], err = s.plane.Get(ctx, plane.RevisionsPath(t.ID), query)
			if err != nil {
				return err
			}
		}
		d.response = d.lists[len(d.lists)/2]
	}
	if err == nil && d.response != nil && d.response.Status >= http.StatusInternalServerError {
		return outcome.Blocked("%s", outcome.Seen(d.response)).ByRequirement("CP-ERROR-3")
	}
	return err
}

// wholeList is a limit greater than the number of revisions in a sequence.
const wholeList = 100

// explain implements session. After writes it reads the deployment. If no history explains a read soon after a write, the
// read may show an earlier state, so it is sent again.
func (s *planeSession) explain(ctx context.Context, group []done) (*Wrong, error) {
	wrote := s.noteWrites(group)
	for _, at := range slices.Sorted(maps.Keys(s.deployments)) {
		problem, err := s.explainAt(ctx, at, operationsAt(at, group), wrote[at])
		if err != nil || problem != nil {
			return problem, err
		}
	}
	return nil, nil
}

// noteWrites records the required effects of the writes of a group. It returns the deployments that they wrote to.
func (s *planeSession) noteWrites(group []done) map[int]bool {
	wrote := map[int]bool{}
	for _, d := range group {
		switch d.Verb {
		case deploy:
			_, source := s.change("repo_ref 1 and graph_config_path 1 and image_uri 1")
			const owner = "CP-CREATE-2"
			pasts := []past{{{d.made.First, source, owner}}}
			s.deployments[d.Object] = &deployment{Deployment: d.made, pasts: pasts, asked: 1, owner: owner}
		case update:
			t := s.deployments[d.Object]
			owner := createsNone[d.Caller]
			if d.Caller == theClient {
				_, source := s.change(d.With)
				t.asked += min(len(source), 1)
				owner = requirementOfUpdate(source, "CP-UPDATE-4")
			}
			isKnown := t.isOff || wrote[d.Object] && s.known(t.owner) // the writes of a group are in flight at the same time
			if !isKnown {
				t.owner = owner
			}
		default:
			continue
		}
		wrote[d.Object] = true
	}
	return wrote
}

// explainAt explains the operations on one deployment.
func (s *planeSession) explainAt(ctx context.Context, at int, about []done, wrote bool) (*Wrong, error) {
	t := s.deployments[at]
	possible, problem := explained(t.pasts, about, s.after, s.known)
	if problem != nil && !wrote && time.Now().Before(t.staleUntil) {
		if err := client.Sleep(ctx, time.Until(t.staleUntil)); err != nil {
			return nil, err
		}
		for i, d := range about {
			about[i] = done{Operation: d.Operation}
			if err := s.send(ctx, &about[i]); err != nil {
				return nil, err
			}
		}
		possible, problem = explained(t.pasts, about, s.after, s.known)
	}
	if problem != nil {
		return problem, nil
	}
	t.pasts = possible
	if !wrote {
		return nil, nil
	}
	t.staleUntil = time.Now().Add(s.target.Config.Patience)
	if len(about) > 1 { // a state between two of them could be explained by another order
		if err := client.Sleep(ctx, s.target.Config.Patience); err != nil {
			return nil, err
		}
	}
	problem, err := s.look(ctx, t, at)
	if problem != nil {
		problem.ambiguous = problem.ambiguous || len(about) > 1 // any of them may be the cause
	}
	return problem, err
}

// look reads a deployment and its list until a history explains both, because a write may take effect later. In a test
// run, it waits only once for each requirement.
func (s *planeSession) look(ctx context.Context, t *deployment, at int) (problem *Wrong, err error) {
	limit := min(s.target.Config.Timeouts.Request, s.target.Config.Timeouts.Poll)
	err = s.target.RetryFor(ctx, limit, func() (bool, error) {
		reads := []done{{Operation: Operation{Caller: theClient, Verb: getDeployment, Object: at}},
			{Operation: Operation{Caller: theClient, Verb: listRevisions, Object: at}}}
		for i := range reads {
			if err := s.send(ctx, &reads[i]); err != nil {
				return false, err
			}
		}
		var next []past
		next, problem = explained(t.pasts, reads[:1], s.after, s.known)
		if problem == nil {
			next, problem = explained(next, reads[1:], s.after, s.known)
		}
		if problem == nil {
			_, unknown := explained(t.pasts, reads, s.after, func(string) bool { return false })
			t.pasts, t.isOff = next, unknown != nil
			return true, nil
		}
		_, timedOut := s.timedOut.Load(problem.Requirement)
		return timedOut, nil
	})
	if problem != nil {
		s.timedOut.Store(problem.Requirement, true)
	}
	if err != nil {
		return nil, err
	}
	return problem, nil
}
