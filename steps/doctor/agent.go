package doctor

import (
	"context"
	"fmt"
	"net/http"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/target"
)

// listings request the threads: as each of the first two users, and without credentials at the end.
func (x *examiner) listings(search bool) (all []*probe) {
	users := x.target.Config.Users
	for _, u := range users[:min(2, len(users))] {
		all = append(all, x.listing(target.Caller{Header: target.UserHeader(u)}, search))
	}
	return append(all, x.listing(target.Caller{}, search))
}

func (x *examiner) listing(who target.Caller, search bool) *probe {
	return x.listingAt(x.target.Config.AgentTarget, who, search)
}

func (x *examiner) listingAt(base string, who target.Caller, search bool) *probe {
	method, path, body := http.MethodGet, agent.ThreadsPath, any(nil)
	if search {
		method, path, body = http.MethodPost, agent.ThreadsPath+"/search", map[string]any{"limit": 1, "offset": 0}
	}
	return &probe{request: x.target.ToAgent(base, who, method, path, body)}
}

// searched requests the threads with the search endpoint where the configuration names none and GET /threads is not served, as a
// run does. Where that is not served either, the answers to GET /threads stand.
func (x *examiner) searched(ctx context.Context, e *Examination, listed []*probe) ([]*probe, error) {
	first := listed[0]
	if x.target.Config.Agent.Listing != "" || first.answer == nil || !target.NotServed(first.answer) {
		return listed, nil
	}
	found := x.listings(true)
	if err := x.sendAll(ctx, found...); err != nil {
		return nil, err
	}
	if a := found[0].answer; a == nil || target.NotServed(a) || a.Status >= http.StatusInternalServerError {
		return listed, nil
	}
	x.target.ListsBySearch()
	e.add(Noted, "agent.listing", fmt.Sprintf("%s: status %d; threads are listed with POST /threads/search", called(first), first.answer.Status), "")
	return found, nil
}

// examineAgent checks the answers to the users, the first one first, and to a request without credentials. Without configured
// users that request stands in for the first user.
func (x *examiner) examineAgent(ctx context.Context, e *Examination, users []*probe, nobody *probe) {
	if len(users) == 0 && nobody.answer != nil && (refusesCaller(nobody) || nobody.answer.Status == x.target.Config.Agent.RejectedStatus) {
		e.add(Noted, "agent server", fmt.Sprintf("%s without credentials: status %d; only checks of refused requests run", called(nobody), nobody.answer.Status), configureUsers)
		return
	}
	if len(users) == 0 {
		if finding := x.examineUser(ctx, e, "agent server", nobody, &probe{}, configureUsers); finding != Problem {
			e.add(Noted, "users", "none configured: checks with two users are skipped", "")
		}
		return
	}
	for i, p := range users {
		subject := fmt.Sprintf("users.%d", i)
		remedy := "check " + target.Variable(subject+".token")
		if len(x.target.Config.Users[i].Headers) > 0 {
			remedy = fmt.Sprintf("check %s.headers", subject)
		}
		if i == 0 {
			subject = "agent server"
		}
		if x.examineUser(ctx, e, subject, p, nobody, remedy) == Problem && i == 0 {
			return
		}
	}
	const subject = "no user"
	call, wanted := called(nobody)+" without credentials: ", x.target.Config.Agent.RejectedStatus
	switch a := nobody.answer; {
	case a == nil:
		e.add(Noted, subject, call+x.failure(nobody), "")
	case a.Status == wanted:
		e.add(Fine, subject, fmt.Sprintf("%sstatus %d", call, a.Status), "")
	case a.Refused():
		e.add(Noted, subject, fmt.Sprintf("%sexpected %d, got %d: AS-AUTH-1 will fail", call, wanted, a.Status), fmt.Sprintf("set agent.rejected_status to %d if the handler is meant to answer that", a.Status))
	case a.OK():
		e.add(Noted, subject, fmt.Sprintf("%sexpected %d, got %d: AS-AUTH-1 will fail", call, wanted, a.Status),
			"name an authentication handler in auth.path of the graph configuration")
	default:
		e.add(Noted, subject, fmt.Sprintf("%sexpected %d, got %d: AS-AUTH-1 will fail", call, wanted, a.Status), "")
	}
}

const configureUsers = "set users: the first creates the data, the second must not see it"

// examineUser checks the answer to one user, which should be a list of threads.
func (x *examiner) examineUser(ctx context.Context, e *Examination, subject string, p, nobody *probe, remedy string) State {
	const key = "agent_target"
	call := called(p) + ": "
	wrong := x.trouble(ctx, p, nobody, key)
	finding, found, next := wrong.State, wrong.Found, wrong.Remedy
	switch a := p.answer; {
	case found != "":
	case refusesCaller(p) || a.Status == x.target.Config.Agent.RejectedStatus:
		finding, found, next = Problem, fmt.Sprintf("%sstatus %d with the user's credentials", call, a.Status), remedy+gatewayHint("headers.agent_server", nobody)
	case a.OK() && a.Get("@this").IsArray():
		finding, found = Fine, fmt.Sprintf("%sstatus %d, a list of threads", call, a.Status)
	case !a.IsJSON():
		finding, found, next = lessIf(refusesCaller(nobody)), call+"expected JSON, got "+x.seen(a), baseAddress(key)
	default:
		finding, found, next = Noted, call+"expected 200 with a list of threads, got "+x.seen(a), x.target.ListingHint()
	}
	e.add(finding, subject, found, next)
	return finding
}
