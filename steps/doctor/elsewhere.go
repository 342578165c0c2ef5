package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/target"
)

// nearby finds another base address on the same host, at which the request of a probe without credentials is answered
// as wanted. It is nil where there is none. The error is that of the context.
func (x *examiner) nearby(ctx context.Context, nobody *probe, wanted func(*probe) bool) (*probe, error) {
	var probes []*probe
	for _, base := range otherBases(nobody.request.Base) {
		p := &probe{request: nobody.request}
		p.request.Base = base
		probes = append(probes, p)
	}
	if err := x.sendAll(ctx, probes...); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(probes, wanted); i >= 0 {
		return probes[i], nil
	}
	return nil, nil
}

// otherBases are a base address without its last segments of the path, and with the usual one.
func otherBases(base string) (all []string) {
	const most, usual = 4, "/api"
	u, err := url.Parse(base)
	if err != nil {
		return nil
	}
	rest := base
	for len(all) < most {
		at := strings.LastIndexByte(rest, '/')
		if at < len(u.Scheme)+len("://x") {
			break
		}
		rest = rest[:at]
		all = append(all, rest)
	}
	if !strings.HasSuffix(base, usual) {
		all = append(all, base+usual)
	}
	return all
}

// examinePrefix looks for the interface at other paths of the same host, where something else is at the configured
// one.
func (x *examiner) examinePrefix(ctx context.Context, e *Examination, key string, nobody *probe) error {
	found, err := x.nearby(ctx, nobody, func(p *probe) bool {
		return p.answer != nil && p.answer.IsJSON() && !isPage(p.answer) && p.answer.Status < http.StatusInternalServerError
	})
	if found != nil {
		seen := fmt.Sprintf("%s without credentials: status %d with JSON", called(found), found.answer.Status)
		e.add(Noted, "path prefix", seen, "set "+key+" to "+found.request.Base)
	}
	return err
}

// guards tells whether the answer to a request without credentials refuses it for that.
func (x *examiner) guards(p *probe) bool {
	return refusesCaller(p) || p.answer != nil && p.answer.Status == x.target.Config.Agent.RejectedStatus && !target.NotServed(p.answer)
}

// absentPlane tells whether the control plane is at another path of the host: where it is configured, requests with
// and without credentials are answered alike, and another path refuses those without.
func (x *examiner) absentPlane(ctx context.Context, e *Examination, owner, nobody *probe) (bool, error) {
	if !absent(owner, nobody) {
		return false, nil
	}
	found, err := x.nearby(ctx, nobody, x.guards)
	if found == nil || err != nil {
		return false, err
	}
	seen := fmt.Sprintf("%s: status %d, with and without credentials; %s without credentials: status %d",
		called(owner), owner.answer.Status, called(found), found.answer.Status)
	e.add(Problem, "control plane", seen, "set target to "+found.request.Base)
	return true, nil
}

// absentAgent tells whether something else is at the address of the agent server: neither the list of threads nor the
// state of a thread is served there, to users or without credentials.
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
	found, err := x.nearby(ctx, nobody, x.guards)
	if err != nil {
		return false, err
	}
	remedy := baseAddress("agent_target")
	if found != nil {
		remedy = "set agent_target to " + found.request.Base
	}
	seen := fmt.Sprintf("%s: status %d, with and without credentials: no agent server is there", called(user), user.answer.Status)
	e.add(Problem, "agent server", seen, remedy)
	return true, nil
}

// absent tells whether requests with and without credentials get the same answer, in JSON: nothing is served at the
// path.
func absent(with, without *probe) bool {
	return with.answer != nil && without.answer != nil && with.answer.Status == without.answer.Status && target.NotServed(with.answer) &&
		with.answer.IsJSON() && !isPage(with.answer)
}
