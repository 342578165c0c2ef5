package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

// discoverer fills in a draft.
type discoverer struct {
	*examiner
	config.Draft
	announce func(step string)
}

// Discover sends requests to the addresses of a configuration, with its credentials, and drafts a configuration. It
// only reads, and announces each step. The problems are addresses without a usable response; keys that depend on them
// are comments in the draft. It returns an error if the context ends or the route is invalid.
func Discover(ctx context.Context, c *config.Config, announce func(string)) (d config.Draft, problems []Check, err error) {
	t, err := target.New(target.Options{Config: c, Concurrency: requestsAtOnce})
	if err != nil {
		return nil, nil, err
	}
	defer t.Close() //nolint:errcheck // there is no ledger
	x := newExaminer(t, nil, suite.Options{})
	d = config.NewDraft()
	discovery := &discoverer{x, d, announce}
	announce("reading from " + strings.Join(c.Addresses(), " and ") + ", with the credentials and without")
	x.examineTarget(ctx)
	if c.Target != "" {
		d.Set("target", c.Target, discovery.findings("control plane", "no credentials"))
		discovery.draftPlane(ctx)
	} else {
		d.Remove("edition", "credentials", "tenant_id_alone", "separate_credentials", "other_tenant", "fixtures",
			"create", "alternatives", "agent_url_from", "max_deployments")
	}
	if c.AgentTarget != "" {
		d.Set("agent_target", c.AgentTarget, discovery.findings("agent server"))
		discovery.draftAgent()
	}
	discovery.draftUsers()
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return d, x.problems(), nil
}

// findings returns the results of the checks of the subjects, as a comment of the draft.
func (d *discoverer) findings(subjects ...string) string {
	var all []string
	for _, c := range d.Checks {
		if slices.Contains(subjects, c.Subject) {
			all = append(all, safe.Line(c.Found))
		}
	}
	return "Given. " + strings.Join(all, "; ") + "."
}

// line formats a text of the target as one line of a comment, without secrets.
func (d *discoverer) line(format string, args ...any) string {
	return safe.Line(d.target.Redact.Text(fmt.Sprintf(format, args...)))
}

// learned sets a key if the target has shown its value. Otherwise the key is a comment.
func (d *discoverer) learned(key string, value any, isKnown bool, how string) {
	if !isKnown {
		d.Suggest(key, nil, "Not known: "+how+".")
		return
	}
	d.Set(key, value, "Learned: "+how+".")
}

// draftPlane drafts the keys of the control plane.
func (d *discoverer) draftPlane(ctx context.Context) {
	for _, each := range d.target.Given(d.target.Config.Credentials) {
		key := "credentials." + each.Key
		d.Suggest(key, nil, config.Variable(key)+" is set: this line is not needed.")
		for _, check := range d.Checks {
			if check.Subject == key {
				d.Suggest(key, nil, safe.Line(config.Variable(key)+" is set, but "+check.Found)+".")
			}
		}
	}
	deployments, listed := d.deployments(ctx)
	ofRepository, ofImage := config.Example("create.body"), config.Example("create.refused")
	if d.draftSources(deployments) == config.SelfHosted {
		ofRepository, ofImage = ofImage, ofRepository
	}
	d.Suggest("fixtures.serve", nil, "Try this group first: if the target's builder reaches this machine, the groups create and "+
		"alternatives below are not needed.")
	d.Suggest("create.body", ofRepository, listed+". Without create.body and fixtures a test run creates nothing and is "+
		"partial. Without fixtures, put a body here that builds the conformance graph.")
	d.Suggest("create.refused", ofImage)
	d.draftAddress(ctx, deployments)
}

// deployments reads the list of deployments if the target has one, and describes the request and its response.
func (d *discoverer) deployments(ctx context.Context) (rows []gjson.Result, listed string) {
	const most = 5
	d.announce("reading the deployments from the control plane")
	a, err := d.plane.Get(ctx, plane.DeploymentsPath, plane.PageOf(20, 0))
	call := "GET " + plane.DeploymentsPath + ": "
	switch {
	case err != nil:
		return nil, call + "no response"
	case !a.OK() || !a.Get("resources").IsArray():
		return nil, d.line("%s%s: the target lists no deployments", call, d.seen(a))
	}
	rows = a.Get("resources").Array()
	return rows[:min(most, len(rows))], fmt.Sprintf("%sstatus %d, a list of %s", call, a.Status,
		reports.Count(len(rows), "deployment"))
}

// draftSources drafts the edition: the given one, or else the edition of a deployment's source, because each source
// belongs to one edition (section 2). A source that is not in the interface may be the target's word for a source of the
// interface.
func (d *discoverer) draftSources(deployments []gjson.Result) (edition string) {
	editions := map[string]string{config.GitHost: config.Cloud, config.ExternalContainer: config.SelfHosted}
	d.Suggest("edition", nil, "Not known: no deployment with a source of one edition is listed.")
	edition = d.target.Config.Edition
	if edition != "" {
		d.Set("edition", edition, "Given.")
	}
	for _, row := range deployments {
		source := row.Get("source").String()
		of, isKnown := editions[source]
		switch {
		case isKnown && edition == "":
			edition = of
			d.Set("edition", edition, d.line("Learned: the deployment %s has the source %s, which only this edition offers.",
				row.Get("id"), source))
		case !isKnown && source != config.InternalContainer && source != "":
			const found = "The deployment %s has the source %.60q, which is not a name of the interface. If it is the " +
				"target's name for one of the sources, put that source on the left."
			d.Suggest("vocabulary", map[string]any{config.GitHost: d.line("%.60s", source)},
				d.line(found, row.Get("id"), source))
		}
	}
	return edition
}

// draftAddress looks in the deployments for the address of an agent server. It sends nothing to that address, because
// it may belong to anyone.
func (d *discoverer) draftAddress(ctx context.Context, deployments []gjson.Result) {
	const key = "agent_url_from"
	usual := config.Default().AgentURLFrom
	for _, row := range deployments {
		a, err := d.plane.Get(ctx, plane.DeploymentPath(row.Get("id").String()), "")
		if err != nil || !a.OK() {
			continue
		}
		var paths, bases []string
		for _, at := range append([]plane.Address{{Path: usual, URL: a.Get(usual).String()}}, plane.AddressesIn(a, nil)...) {
			base, err := d.target.Client.Names.Base(at.URL)
			if err == nil && !slices.Contains(paths, usual) {
				paths = append(paths, at.Path)
				bases = append(bases, base)
			}
		}
		if len(paths) == 0 {
			continue
		}
		found := d.line("Found: the deployment %s has a URL at %s, to which nothing was sent.", row.Get("id"),
			strings.Join(paths, " and at "))
		if len(bases) == 1 {
			d.Suggest("agent_target", bases[0], "Nothing was sent to it: give it with --agent-target to read from it.")
		}
		if paths[0] == usual {
			d.Set(key, usual, found)
		} else {
			d.Suggest(key, paths[0], found+" Put the path of the agent server's URL here.")
		}
		return
	}
	d.Suggest(key, nil, "Not known: no URL of an agent server was found in "+
		reports.Count(len(deployments), "listed deployment")+".")
}

// draftUsers drafts the users of the environment, without their tokens.
func (d *discoverer) draftUsers() {
	var all []any
	var named []string
	for i, u := range d.target.Config.Users {
		shown := map[string]any{"name": u.Name}
		if u.Identity != "" {
			shown["identity"] = u.Identity
		}
		if len(u.Fields) > 0 {
			shown["fields"] = u.Fields
		}
		if u.SameIdentity {
			shown["same_identity"] = true
		}
		all = append(all, shown)
		named = append(named, config.Variable(fmt.Sprintf("users.%d.token", i)))
	}
	if len(all) == 0 {
		d.Suggest("users", nil, "Not known: set "+config.Variable("users.0.token")+" and "+config.Variable("users.1.token")+
			" and run init again, or put the users here.")
		return
	}
	d.Set("users", all,
		"From the environment: the tokens stay in "+strings.Join(named, ", ")+"; to read one from a file, "+
			"add token: {file: path} to the user.",
		"Cannot be learned: identity, which the handler returns for the user; without it, what the graph and new threads "+
			"get is not judged.")
}

// draftAgent drafts the listing operation from the response to the first user. It drafts the status and detail of
// refusals from the responses to the requests without credentials and with an unknown token.
func (d *discoverer) draftAgent() {
	call := d.listed.request.Method + " " + d.listed.request.Path
	how := "get"
	if d.target.Searches() {
		how = "search"
	}
	seen := "no list of threads"
	if isList(d.listed.response) {
		seen = "a list of threads"
	}
	d.learned("agent.listing", how, isList(d.listed.response), call+": "+seen)
	a, b := d.nobody.response, d.unknown.response
	if a == nil || b == nil {
		return
	}
	isRefusal := func(a *exchange.Response) bool { return a.IsRefused() && !target.NotServed(a) }
	areRefused := isRefusal(a) && isRefusal(b)
	d.learned("agent.rejected_status", perCase(a.Status, b.Status), areRefused,
		fmt.Sprintf("%s without credentials: status %d, with an unknown token: status %d", call, a.Status, b.Status))
	first, second := detailOf(a), detailOf(b)
	isPlain := func(text string) bool { return text != "" && d.line("%s", text) == text }
	d.learned("agent.rejected_detail", perCase(first, second), areRefused && isPlain(first) && isPlain(second),
		d.line("without credentials %q, with an unknown token %q", first, second))
}

// perCase returns the values of a refusal in each case. If the two cases that were tried have the same value, it is the
// value of all cases.
func perCase[T int | string](missing, invalid T) config.PerCase[T] {
	if missing == invalid {
		return config.Always(missing)
	}
	return config.PerCase[T]{Missing: config.OneOrMore[T]{missing}, Invalid: config.OneOrMore[T]{invalid}}
}

// detailOf returns the detail of a refusal: a string in JSON, or a short plain text.
func detailOf(a *exchange.Response) string {
	const most = 200
	text := strings.TrimSpace(string(a.Body))
	if a.IsJSON() {
		text, _ = a.Get("detail").Value().(string)
	}
	if len(text) > most || a.IsPage() {
		return ""
	}
	return text
}
