package steps

import (
	"fmt"
	"net/http"
)

// listing asks for threads by the configured call.
func (r *run) listing(who caller) *probe {
	method, path, body := http.MethodGet, threadsPath, any(nil)
	if r.searches() {
		method, path, body = http.MethodPost, threadsPath+"/search", map[string]any{"limit": 1, "offset": 0}
	}
	return &probe{request: r.toAgent(r.config.AgentTarget, who, method, path, body)}
}

// examineAgent looks at the answers to the users, the owner first, and to nobody. Without users nobody is the owner.
func (r *run) examineAgent(e *Examination, users []*probe, nobody *probe) {
	if len(users) == 0 {
		if finding := r.examineUser(e, "agent server", nobody, &probe{}, "configure users: the first owns, the second is the stranger"); finding != Problem {
			e.add(Noted, "users", "none are configured: what the agent server does for its users is not judged", "")
		}
		return
	}
	for i, p := range users {
		subject := fmt.Sprintf("users.%d", i)
		remedy := "check " + variable(subject+".token")
		if len(r.config.Users[i].Headers) > 0 {
			remedy = fmt.Sprintf("check %s.headers", subject)
		}
		if i == 0 {
			subject = "agent server"
		}
		if r.examineUser(e, subject, p, nobody, remedy) == Problem && i == 0 {
			return
		}
	}
	const alone = "no user"
	wanted := r.config.Agent.RejectedStatus
	switch a := nobody.answer; {
	case a == nil:
		e.add(Noted, alone, r.failure(nobody), "")
	case a.Status == wanted:
		e.add(Fine, alone, fmt.Sprintf("refused (status %d)", a.Status), "")
	case a.Refused():
		e.add(Noted, alone, fmt.Sprintf("refused with status %d in place of %d: AS-AUTH-1 will fail", a.Status, wanted), "set agent.rejected_status if that is the handler's choice")
	default:
		e.add(Noted, alone, fmt.Sprintf("answered with status %d in place of %d: AS-AUTH-1 will fail", a.Status, wanted), "")
	}
}

// examineUser looks at the answer to one user, who should be shown threads.
func (r *run) examineUser(e *Examination, subject string, p, nobody *probe, remedy string) Finding {
	const key = "agent_target"
	call := p.request.Method + " " + p.request.Path
	finding, found, next := r.trouble(p, nobody, key)
	switch a := p.answer; {
	case found != "":
	case refusesCaller(p) || a.Status == r.config.Agent.RejectedStatus:
		finding, found, next = Problem, fmt.Sprintf("%s refuses the user (status %d)", r.config.AgentTarget, a.Status), remedy
	case a.OK() && a.Get("@this").IsArray():
		finding, found = Fine, fmt.Sprintf("%s lists threads (%s)", r.config.AgentTarget, call)
	case !a.IsJSON():
		finding, found, next = lessIf(refusesCaller(nobody)), fmt.Sprintf("%s answers %s", r.config.AgentTarget, r.told(a)), baseAddress(key)
	default:
		finding, found, next = Noted, fmt.Sprintf("%s to %s is answered with %s", call, r.config.AgentTarget, r.told(a)), listingHint(r.searches())
	}
	e.add(finding, subject, found, next)
	return finding
}
