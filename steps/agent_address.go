package steps

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// awaitAddress returns the address that a deployment tells of its agent server. A target may know it only some time
// after the deployment is up. Where one deployment was seen not to tell it, the others are not waited for.
func (r *run) awaitAddress(ctx context.Context, d *deployment) (string, error) {
	var last *client.Answer
	told, limit := "", r.config.Timeouts.Request
	if r.nameless.Load() {
		limit = 0
	}
	err := r.within(ctx, limit, func() (bool, error) {
		a, err := r.get(ctx, deploymentPath(d.id), "")
		if err != nil {
			return false, err
		}
		last, told = a, a.Get(r.config.AgentURLFrom).String()
		return told != "" || !a.OK() || r.nameless.Load(), nil
	})
	switch {
	case err != nil:
		return "", err
	case told != "":
		return told, nil
	case !last.OK():
		return "", violated(last, "the deployment", "%s", seen(last))
	}
	r.nameless.Store(true)
	return "", r.noAddress(d, last)
}

// noAddress says that a deployment does not tell where its agent server is. Who has said where to look is mistaken, or
// the target is wrong; who has not may have a target without agent servers.
func (r *run) noAddress(d *deployment, a *client.Answer) *outcome {
	hint := "nothing in it looks like one"
	if found := r.addressesIn(d, a); len(found) > 0 {
		hint = "what may be one stands at " + strings.Join(found, ", ")
	}
	path := r.config.AgentURLFrom
	if path != config.Default().AgentURLFrom {
		return blocked("the deployment has no address at %s, where agent_url_from says that the agent server's is; %s: correct agent_url_from, or set agent_target", path, hint)
	}
	return needs(fmt.Sprintf("agent_url_from, or agent_target: the deployment has no address of an agent server at %s; %s", path, hint))
}

// addressesIn finds texts in a deployment that are http or https addresses, and not what the suite has sent itself,
// such as that of the repository: "agent.address" ("https://...").
func (r *run) addressesIn(d *deployment, a *client.Answer) []string {
	const most = 3
	ours := string(encode(d.body))
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
		if value.Type != gjson.String || err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "" || strings.Contains(ours, string(encode(text))) {
			return
		}
		found = append(found, fmt.Sprintf("%.100q (%.100q)", r.redact.Text(path), r.redact.Text(text)))
	}
	walk("", a.Get("@this"))
	return found
}
