package doctor

import (
	"context"
	"fmt"
	"net/http"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
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
	method, path, body := http.MethodGet, agent.ThreadsPath, any(nil)
	if search {
		method, path, body = http.MethodPost, agent.ThreadsPath+"/search", map[string]any{"limit": 1, "offset": 0}
	}
	return &probe{request: x.target.ToAgent(x.target.Config.AgentTarget, who, method, path, body)}
}

// searched requests the threads with the search endpoint where the configuration names none and GET /threads is not
// served, as a run does. Where that is not served either, the answers to GET /threads stand.
func (x *examiner) searched(ctx context.Context, listed []*probe) []*probe {
	first := listed[0]
	if x.target.Config.Agent.Listing != "" || first.answer == nil || !target.NotServed(first.answer) {
		return listed
	}
	found := x.listings(true)
	x.sendAll(ctx, found...)
	if a := found[0].answer; a == nil || target.NotServed(a) || a.Status >= http.StatusInternalServerError {
		return listed
	}
	x.target.ListsBySearch()
	x.add(Noted, "agent.listing", fmt.Sprintf("%s: status %d; threads are listed with POST /threads/search",
		first.called(), first.answer.Status), "")
	return found
}

const configureUsers = "set users: the first creates the data, the second must not see it"

// examineAgent checks the answers to the users, the first one first, and at the end that to a request without
// credentials. Without configured users that request stands in for the first user.
func (x *examiner) examineAgent(ctx context.Context, probes []*probe) {
	users, nobody := probes[:len(probes)-1], probes[len(probes)-1]
	x.listed, x.nobody = probes[0], nobody
	defer x.examineConnection("agent_target", probes)
	call, wanted := nobody.called()+" without credentials: ", x.target.Config.Agent.RejectedStatus
	if len(users) == 0 && x.refused(nobody) {
		x.add(Noted, "agent server", fmt.Sprintf("%sstatus %d; only checks of refused requests run", call,
			nobody.answer.Status), configureUsers)
		return
	}
	if len(users) == 0 {
		if x.examineUser(ctx, "agent server", nobody, nobody, configureUsers) != Problem {
			x.add(Noted, "users", "none configured: checks with two users are skipped", "")
		}
		return
	}
	for i, p := range users {
		subject := fmt.Sprintf("users.%d", i)
		remedy := "check " + target.Variable(subject+".token")
		if len(x.target.Config.Users[i].Headers) > 0 {
			remedy = "check " + subject + ".headers"
		}
		if i == 0 {
			subject = "agent server"
		}
		if x.examineUser(ctx, subject, p, nobody, remedy) == Problem && i == 0 {
			return
		}
	}
	a := nobody.answer
	if a == nil {
		x.add(Noted, "no user", call+x.failure(nobody), "")
		return
	}
	found, remedy := fmt.Sprintf("%sexpected %d, got %d: AS-AUTH-1 will fail", call, wanted, a.Status), ""
	switch {
	case a.Status == wanted:
		x.add(Fine, "no user", fmt.Sprintf("%sstatus %d", call, wanted), "")
		return
	case a.Refused():
		remedy = fmt.Sprintf("set agent.rejected_status to %d if the handler is meant to answer that", a.Status)
	case a.OK():
		remedy = "name an authentication handler in auth.path of the graph configuration"
	}
	x.add(Noted, "no user", found, remedy)
}

// lists tells whether an answer is a list of threads.
func lists(a *client.Answer) bool { return a != nil && a.OK() && a.IsArray() }

// examineUser checks the answer to one user, which should be a list of threads.
func (x *examiner) examineUser(ctx context.Context, subject string, p, nobody *probe, refusal string) State {
	check := x.trouble(ctx, p, nobody, "agent_target", refusal)
	switch {
	case check.Found != "":
	case lists(p.answer):
		check.Found = fmt.Sprintf("%s: status %d, a list of threads", p.called(), p.answer.Status)
	default:
		check = Check{Noted, "", p.called() + ": expected 200 with a list of threads, got " + x.seen(p.answer),
			x.target.ListingHint()}
	}
	x.add(check.State, subject, check.Found, check.Remedy)
	return check.State
}
