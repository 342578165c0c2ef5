package agent

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// awaitAddress returns the address that a deployment tells of its agent server. A target may know it only some time
// after the deployment is up. Where one deployment was seen not to tell it, the others are not waited for.
func (as *Agents) awaitAddress(ctx context.Context, d *plane.Deployment) (string, error) {
	var last *client.Answer
	told, limit := "", as.target.Config.Timeouts.Request
	if as.noAddress.Load() {
		limit = 0
	}
	err := as.target.RetryFor(ctx, limit, func() (bool, error) {
		a, err := as.plane.Get(ctx, plane.DeploymentPath(d.ID), "")
		if err != nil {
			return false, err
		}
		last, told = a, a.Get(as.target.Config.AgentURLFrom).String()
		return told != "" || !a.OK() || as.noAddress.Load(), nil
	})
	switch {
	case err != nil:
		return "", err
	case told != "":
		return told, nil
	case !last.OK():
		return "", outcome.Violated(last, "the deployment", "%s", outcome.Seen(last))
	}
	as.noAddress.Store(true)
	return "", as.missingAddress(d, last)
}

// missingAddress says that a deployment does not tell where its agent server is. Who has said where to look is mistaken, or
// the target is wrong; who has not may have a target without agent servers.
func (as *Agents) missingAddress(d *plane.Deployment, a *client.Answer) *outcome.Outcome {
	hint := "nothing in it looks like one"
	if found := as.addressesIn(d, a); len(found) > 0 {
		hint = "what may be one stands at " + strings.Join(found, ", ")
	}
	path := as.target.Config.AgentURLFrom
	if path != config.Default().AgentURLFrom {
		return outcome.Blocked("the deployment has no address at %s, where agent_url_from says that the agent server's is; %s: correct agent_url_from, or set agent_target", path, hint).By(reports.ByKey, "agent_url_from")
	}
	return outcome.Needs("agent_url_from", fmt.Sprintf(", or agent_target: the deployment has no address of an agent server at %s; %s", path, hint))
}

// addressesIn finds texts in a deployment that are http or https addresses, and not what the suite has sent itself,
// such as that of the repository: "agent.address" ("https://...").
func (as *Agents) addressesIn(d *plane.Deployment, a *client.Answer) []string {
	const most = 3
	ours := string(target.Encode(d.Body))
	var found []string
	var walk func(path string, value gjson.Result)
	walk = func(path string, value gjson.Result) {
		if value.IsObject() || value.IsArray() {
			at := 0
			value.ForEach(func(key, item gjson.Result) bool {
				name := gjson.Escape(key.String())
				if value.IsArray() {
					name = fmt.Sprint(at)
				}
				at++
				walk(strings.TrimPrefix(path+"."+name, "."), item)
				return len(found) < most
			})
			return
		}
		text := value.String()
		u, err := url.Parse(text)
		if value.Type != gjson.String || err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "" || strings.Contains(ours, string(target.Encode(text))) {
			return
		}
		found = append(found, fmt.Sprintf("%.100q (%.100q)", as.target.Redact.Text(path), as.target.Redact.Text(text)))
	}
	walk("", a.Get("@this"))
	return found
}
