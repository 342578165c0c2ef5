package doctor

import (
	"fmt"
	"net/http"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/target"
)

// listing asks for threads by the configured call.
func (x *examiner) listing(who target.Caller) *probe {
	method, path, body := http.MethodGet, agent.ThreadsPath, any(nil)
	if x.target.Searches() {
		method, path, body = http.MethodPost, agent.ThreadsPath+"/search", map[string]any{"limit": 1, "offset": 0}
	}
	return &probe{request: x.target.ToAgent(x.target.Config.AgentTarget, who, method, path, body)}
}

// examineAgent looks at the answers to the users, the owner first, and to nobody. Without users nobody is the owner.
func (x *examiner) examineAgent(e *Examination, users []*probe, nobody *probe) {
	if len(users) == 0 {
		if finding := x.examineUser(e, "agent server", nobody, &probe{}, "configure users: the first owns, the second is the stranger"); finding != Problem {
			e.add(Noted, "users", "none are configured: what the agent server does for its users is not judged", "")
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
		if x.examineUser(e, subject, p, nobody, remedy) == Problem && i == 0 {
			return
		}
	}
	const alone = "no user"
	wanted := x.target.Config.Agent.RejectedStatus
	switch a := nobody.answer; {
	case a == nil:
		e.add(Noted, alone, x.failure(nobody), "")
	case a.Status == wanted:
		e.add(Fine, alone, fmt.Sprintf("refused (status %d)", a.Status), "")
	case a.Refused():
		e.add(Noted, alone, fmt.Sprintf("refused with status %d in place of %d: AS-AUTH-1 will fail", a.Status, wanted), "set agent.rejected_status if that is the handler's choice")
	default:
		e.add(Noted, alone, fmt.Sprintf("answered with status %d in place of %d: AS-AUTH-1 will fail", a.Status, wanted), "")
	}
}

// examineUser looks at the answer to one user, who should be shown threads.
func (x *examiner) examineUser(e *Examination, subject string, p, nobody *probe, remedy string) State {
	const key = "agent_target"
	call := p.request.Method + " " + p.request.Path
	finding, found, next := x.trouble(p, nobody, key)
	switch a := p.answer; {
	case found != "":
	case refusesCaller(p) || a.Status == x.target.Config.Agent.RejectedStatus:
		finding, found, next = Problem, fmt.Sprintf("%s refuses the user (status %d)", x.target.Config.AgentTarget, a.Status), remedy
	case a.OK() && a.Get("@this").IsArray():
		finding, found = Fine, fmt.Sprintf("%s lists threads (%s)", x.target.Config.AgentTarget, call)
	case !a.IsJSON():
		finding, found, next = lessIf(refusesCaller(nobody)), fmt.Sprintf("%s answers %s", x.target.Config.AgentTarget, x.told(a)), baseAddress(key)
	default:
		finding, found, next = Noted, fmt.Sprintf("%s to %s is answered with %s", call, x.target.Config.AgentTarget, x.told(a)), target.ListingHint(x.target.Searches())
	}
	e.add(finding, subject, found, next)
	return finding
}
