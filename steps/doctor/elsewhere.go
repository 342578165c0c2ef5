package doctor

import (
	"context"
	"fmt"
	"net/http"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/target"
)

// guardedBase finds a base address near that of a request without credentials, at which the same request is refused because it has no
// credentials. It is nil where there is none. The error is that of the context.
func (x *examiner) guardedBase(ctx context.Context, nobody *probe) (*probe, error) {
	var probes []*probe
	for _, base := range otherBases(nobody.request.Base) {
		p := &probe{request: nobody.request}
		p.request.Base = base
		probes = append(probes, p)
	}
	if err := x.sendAll(ctx, probes...); err != nil {
		return nil, err
	}
	for _, p := range probes {
		if x.guards(p) {
			return p, nil
		}
	}
	return nil, nil
}

// guards tells whether the answer to a request without credentials refuses it for that.
func (x *examiner) guards(p *probe) bool {
	return refusesCaller(p) || p.answer != nil && p.answer.Status == x.target.Config.Agent.RejectedStatus && !target.NotServed(p.answer)
}

// absentPlane tells whether the control plane is at another path of the host: where it is configured, requests with and without
// credentials are answered alike, and another path refuses those without.
func (x *examiner) absentPlane(ctx context.Context, e *Examination, owner, nobody *probe) (bool, error) {
	if !absent(owner, nobody) {
		return false, nil
	}
	found, err := x.guardedBase(ctx, nobody)
	if found == nil || err != nil {
		return false, err
	}
	e.Checks = append(e.Checks, Check{State: Problem, Subject: "control plane", Party: client.Configuration,
		Found:  fmt.Sprintf("%s: status %d, with and without credentials; %s without credentials: status %d", called(owner), owner.answer.Status, called(found), found.answer.Status),
		Remedy: "set target to " + found.request.Base})
	return true, nil
}

// absentAgent tells whether something else is at the address of the agent server: neither the list of threads nor the state of a
// thread is served there, to users or without credentials.
func (x *examiner) absentAgent(ctx context.Context, e *Examination, user, nobody *probe) (bool, error) {
	if !absent(user, nobody) {
		return false, nil
	}
	state := &probe{request: x.target.ToAgent(nobody.request.Base, target.Caller{}, http.MethodGet, agent.ThreadsPath+"/"+target.UnknownID()+"/state", nil)}
	if err := x.sendAll(ctx, state); err != nil {
		return false, err
	}
	if state.answer == nil || !target.NotServed(state.answer) {
		return false, nil
	}
	found, err := x.guardedBase(ctx, nobody)
	if err != nil {
		return false, err
	}
	c := Check{State: Problem, Subject: "agent server", Party: client.Configuration, Remedy: baseAddress("agent_target"),
		Found: fmt.Sprintf("%s: status %d, with and without credentials: no agent server is there", called(user), user.answer.Status)}
	if found != nil {
		c.Remedy = "set agent_target to " + found.request.Base
	}
	e.Checks = append(e.Checks, c)
	return true, nil
}

// absent tells whether requests with and without credentials get the same answer, in JSON: nothing is served at the path.
func absent(with, without *probe) bool {
	return with.answer != nil && without.answer != nil && with.answer.Status == without.answer.Status && target.NotServed(with.answer) &&
		with.answer.IsJSON() && !isPage(with.answer)
}
