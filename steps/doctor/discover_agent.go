package doctor

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// candidates are the URLs of a deployment at which its agent server may be, that at the default path first.
func (d *discoverer) candidates(a *client.Answer) []plane.Address {
	usual := config.Default().AgentURLFrom
	found := plane.AddressesIn(a, nil)
	if url := a.Get(usual); url.Type == gjson.String {
		found = append([]plane.Address{{Path: usual, URL: url.String()}}, found...)
	}
	return found
}

// lists tells whether an answer is a list of threads.
func lists(a *client.Answer) bool { return a != nil && a.OK() && a.Get("@this").IsArray() }

// askAgent asks the agent server how threads are listed, and how callers with wrong credentials are refused.
func (d *discoverer) askAgent(ctx context.Context, base string) error {
	d.draftUsers()
	if base == "" {
		const why = "Not known: no agent server was given with --agent-target. "
		d.draft.Suggest("agent.listing", "search", why+"Put get or search here.")
		d.draft.Suggest("agent.rejected_status", http.StatusUnauthorized, why+"Put the status here with which wrong credentials are refused.")
		d.draft.Suggest("agent.rejected_detail", "Invalid credentials", why+"Put the detail of that answer here.")
		return nil
	}
	d.tell(d.line("asking %s how threads are listed and how callers are refused", base))
	owner, nobody, unknown := d.target.Owner(), target.Caller{}, d.target.UnknownCaller()
	get, search := d.listingAt(base, owner, false), d.listingAt(base, owner, true)
	none, wrong := [2]*probe{d.listingAt(base, nobody, false), d.listingAt(base, nobody, true)}, [2]*probe{d.listingAt(base, unknown, false), d.listingAt(base, unknown, true)}
	if err := d.sendAll(ctx, get, search, none[0], none[1], wrong[0], wrong[1]); err != nil {
		return err
	}
	d.draftListing(get, search)
	at := 0
	if get.answer != nil && target.NotServed(get.answer) {
		at = 1
	}
	d.draftRefusal(none[at], wrong[at])
	return nil
}

// draftUsers writes the users of the environment, without their tokens.
func (d *discoverer) draftUsers() {
	users := d.target.Config.Users
	if len(users) == 0 {
		d.draft.Suggest("users", []any{
			map[string]any{"name": "ada", "token": map[string]any{"file": "secrets/ada"}, "identity": "ada@example.org"},
			map[string]any{"name": "bob", "token": map[string]any{"file": "secrets/bob"}, "identity": "bob@example.org"},
		}, "Not known: set "+target.Variable("users.0.token")+" and "+target.Variable("users.1.token")+" and run init again, or put the users here. identity is what the authentication handler returns.")
		return
	}
	var all []any
	var named []string
	for i, u := range users {
		shown := map[string]any{"name": u.Name}
		if u.Identity != u.Name {
			shown["identity"] = u.Identity
		}
		all = append(all, shown)
		named = append(named, target.Variable(fmt.Sprintf("users.%d.token", i)))
	}
	d.draft.Set("users", all, d.line("From the environment: the tokens stay in %s; to read one from a file, add token: {file: path} to the user.", strings.Join(named, ", ")),
		"Cannot be learned: identity, what the authentication handler returns for the user; without it, the name is expected.")
}

// draftListing takes the operation that answers with a list; where none does, the one that is served.
func (d *discoverer) draftListing(get, search *probe) {
	const key = "agent.listing"
	how := d.line("%s; %s", d.told(get), d.told(search))
	served := func(p *probe) bool {
		return p.answer != nil && !target.NotServed(p.answer) && p.answer.Status < http.StatusInternalServerError
	}
	switch {
	case lists(get.answer):
		d.draft.Set(key, "get", "Learned: "+how+".")
	case lists(search.answer):
		d.draft.Set(key, "search", "Learned: "+how+".")
	case served(get) && !served(search):
		d.draft.Set(key, "get", "Learned: "+how+": the search endpoint is not served.")
	case served(search) && !served(get):
		d.draft.Set(key, "search", "Learned: "+how+": GET /threads is not served.")
	default:
		d.draft.Suggest(key, "search", "Not known: "+how+". Put get or search here.")
	}
}

// told is a request with what came back: "GET /threads: status 200, a list of threads".
func (d *discoverer) told(p *probe) string {
	call := p.request.Method + " " + p.request.Path + ": "
	switch {
	case p.answer == nil:
		return call + d.failure(p)
	case lists(p.answer):
		return fmt.Sprintf("%sstatus %d, a list of threads", call, p.answer.Status)
	}
	return fmt.Sprintf("%sstatus %d", call, p.answer.Status)
}

// draftRefusal takes status and detail of a refusal that does not depend on what is wrong with the credentials.
func (d *discoverer) draftRefusal(none, wrong *probe) {
	const status, detail = "agent.rejected_status", "agent.rejected_detail"
	a, b := none.answer, wrong.answer
	how := d.line("%s %s without credentials: status %d, with an unknown token: status %d", none.request.Method, none.request.Path, statusOf(a), statusOf(b))
	switch {
	case a == nil || b == nil:
		d.draft.Suggest(status, http.StatusUnauthorized, "Not known: no answer to a request without credentials. Put the status here with which wrong credentials are refused.")
	case a.Status != b.Status || !a.Refused() || target.NotServed(a):
		d.draft.Suggest(status, http.StatusUnauthorized, "Not known: "+how+". Put the status here with which wrong credentials are refused.")
	default:
		d.draft.Set(status, a.Status, "Learned: "+how+".")
		first, second := detailOf(a), detailOf(b)
		if first != "" && first == second && d.line("%s", first) == first {
			d.draft.Set(detail, first, "Learned: both answers have it.")
			return
		}
		d.draft.Suggest(detail, "Invalid credentials", d.line("Not known: without credentials %q, with an unknown token %q. Put what both contain here; without it, the detail is not tested.", first, second))
		return
	}
	d.draft.Suggest(detail, "Invalid credentials", "Not known. Put the detail of that answer here; without it, the detail is not tested.")
}

// detailOf is the detail of a refusal: a string of JSON, or a short plain text.
func detailOf(a *client.Answer) string {
	const most = 200
	if a.IsJSON() {
		text := a.Get("detail")
		if text.Type != gjson.String || len(text.String()) > most {
			return ""
		}
		return text.String()
	}
	text := strings.TrimSpace(string(a.Body))
	if len(text) > most || isPage(a) {
		return ""
	}
	return text
}

// suggestRest leaves the keys as comments that no request can tell.
func (d *discoverer) suggestRest(found string) {
	if d.target.Config.AgentTarget == "" {
		example, why := "https://agents.example/conformance", "Not given: without it, agent servers are tested that the run deploys (create.body)."
		if found != "" {
			example = found
			why += d.line(" %s stands in a deployment that is listed: name it here to test it.", found)
		}
		d.draft.Suggest("agent_target", example, why)
	}
	if d.target.Config.Target == "" {
		d.draft.Suggest("target", "https://control.example", "Not given: the requirements of the control plane are not tested.")
	}
	d.draft.Suggest("implementation.name", "name of your product")
	d.draft.Suggest("implementation.version", "1.0.0")
	claim := []any{features.ControlPlane, features.AgentServer, features.EndToEnd}
	if d.target.Config.Target == "" {
		claim = []any{features.AgentServer}
	}
	d.draft.Suggest("supports", claim, "Cannot be learned. docs/configuration.md lists the words; a part of a profile is claimed by its capabilities, such as [agent-server-core, rollback].")
	d.draft.Suggest("assistant_id", config.Default().AssistantID, "Not asked. Put the name here with which the conformance graph is deployed.")
	d.draft.Suggest("agent.studio_headers", map[string]any{"X-Auth-Scheme": "studio"}, "Cannot be learned: put the headers of a user of your development environment here, if there is one.")
	if d.target.Config.Target != "" {
		d.draft.Suggest("separate_credentials", true, "Not asked: credentials are sent only where they belong. Remove the \"# \" if it is true.")
		d.draft.Suggest("max_deployments", 10)
	}
}
