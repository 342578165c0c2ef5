package recording

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/target"
)

// Summary counts the entries of a recording.
type Summary struct {
	Judged        int      // exchanges with the target
	NoResponse    int      // of these
	Cut           int      // of these, the number of responses with a missing or incomplete body
	Elsewhere     int      // exchanges at other addresses
	Origins       []string // scheme and host of the other addresses, at most maxOrigins
	NotFromTarget int      // entries that did not reach the target, such as responses from a cache
	Refuses       bool
}

// maxOrigins is the maximum number of other addresses in the summary.
const maxOrigins = 3

// player adds the entries of a recording to the record of a target.
type player struct {
	recording *Recording
	target    *target.Target
	restore   *strings.Replacer
	callers   *callers
	bases     []base // the longest first
	known     []int  // index of the place for each exchange: its ID less one
	runs      map[string]run
	rollbacks map[string][]rollback // accepted rollbacks, and those that may have been accepted, by thread
	served    map[string]bool       // agent servers that have responded with a status below 500
	subjects  map[string]string     // interned subjects, so that equal names share memory
	summary   Summary
}

// base is an address of the target.
type base struct {
	side    spec.Side
	address string
	origin  string // scheme, host and port
	path    string
}

// run is a run that was accepted.
type run struct{ mayRaise bool }

// rollback is a request for a run that may remove the runs before it.
type rollback struct {
	run  string
	sent time.Time
}

// Play adds the exchanges with the target to its record, in the order in which they ended. To show an exchange later, the
// record reads the archive again.
func (r *Recording) Play(ctx context.Context, t *target.Target) (Summary, error) {
	p := &player{recording: r, target: t, restore: restorer(t), callers: newCallers(t, r.own), runs: map[string]run{},
		rollbacks: map[string][]rollback{}, served: map[string]bool{}, subjects: map[string]string{}}
	p.addBase(spec.ControlPlane, t.Config.Target)
	p.addBase(spec.AgentServer, t.Config.AgentTarget)
	if err := p.each(ctx, func(_ int, e Entry, at location) {
		p.findAgent(e, at)
		p.learn(e, at)
	}); err != nil {
		return p.summary, err
	}
	p.summary = Summary{Refuses: p.callers.refuses}
	t.Collector.Reread = p.exchange
	t.Collector.Grow(len(r.places))
	all := make(chan message, readAhead) // the next entries are read while earlier ones are judged
	var err error
	go func() {
		defer close(all)
		err = p.each(ctx, func(i int, e Entry, at location) {
			p.count(e)
			p.known = append(p.known, i)
			all <- p.message(e, at)
		})
	}()
	for m := range all {
		t.Collector.Observe(evidence.WithScenario(ctx, m.subject, 1), m.request, m.sent, m.response, m.cause)
	}
	return p.summary, err
}

// message is an entry with hidden credentials, in the form of the record.
type message struct {
	subject  string // see [player.subject]
	request  exchange.Request
	sent     time.Time
	response *exchange.Response // nil if there is none
	cause    string             // the reason why there is no response
}

// each calls use for each entry with the target.
func (p *player) each(ctx context.Context, use func(i int, e Entry, at location)) error {
	p.summary = Summary{}
	ctx, stop := context.WithCancel(ctx)
	entries := p.recording.entries(ctx, p.restore)
	defer func() {
		stop()
		for range entries { // waits until the goroutine of entries has ended
		}
	}()
	for read := range entries {
		e, err := read.Entry, read.err
		if err != nil {
			return err
		}
		at, isTarget := p.locate(e.URL)
		switch {
		case !isTarget:
			p.noteElsewhere(e.URL)
		case e.NotFromTarget:
			p.summary.NotFromTarget++
		default:
			use(read.index, e, at)
		}
	}
	return context.Cause(ctx)
}

func (p *player) noteElsewhere(address string) {
	p.summary.Elsewhere++
	u, err := url.Parse(address)
	isWeb := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	if !isWeb || len(p.summary.Origins) == maxOrigins {
		return
	}
	origin := safe.Cut(p.target.Redact.Text(originOf(u)), 100)
	if !slices.Contains(p.summary.Origins, origin) {
		p.summary.Origins = append(p.summary.Origins, origin)
	}
}

func (p *player) count(e Entry) {
	p.summary.Judged++
	switch {
	case e.Status == 0:
		p.summary.NoResponse++
	case e.Cut:
		p.summary.Cut++
	}
}

// exchange returns an exchange of the record in the form of reports.
func (p *player) exchange(id int) reports.Exchange {
	if id < 1 || id > len(p.known) {
		return reports.Exchange{}
	}
	place := p.recording.places[p.known[id-1]]
	e, err := p.recording.entry(place, make([]byte, place.size), p.restore)
	at, isTarget := p.locate(e.URL)
	if err != nil || !isTarget { // the file has changed
		return reports.Exchange{}
	}
	m := p.message(e, at)
	ctx := evidence.WithScenario(context.Background(), m.subject, 1)
	return p.target.Collector.Describe(ctx, m.request, m.sent, m.response, m.cause)
}

// location is the destination of a request.
type location struct {
	base
	path, query string // escaped
}

// addBase adds an address of the target, unless it is empty or known. There are at most maxBases.
func (p *player) addBase(side spec.Side, address string) (isNew bool) {
	const maxBases = 10_000
	u, err := url.Parse(address)
	isKnown := slices.ContainsFunc(p.bases, func(b base) bool { return b.address == address })
	if err != nil || u.Host == "" || isKnown || len(p.bases) == maxBases {
		return false
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	b := base{side, strings.TrimRight(address, "/"), originOf(u), path}
	p.bases = append(p.bases, b)
	slices.SortStableFunc(p.bases, func(a, b base) int { return len(b.path) - len(a.path) })
	return true
}

// originOf returns scheme, host and port of a URL in one spelling.
func originOf(u *url.URL) string {
	return strings.ToLower(u.Scheme) + "://" + reports.HostPort(strings.ToLower(u.Scheme)+"://"+u.Host)
}

// locate returns the destination of a request, and reports whether it is the target.
func (p *player) locate(address string) (at location, isTarget bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return location{}, false
	}
	origin, path := originOf(u), cmp.Or(u.EscapedPath(), "/")
	for _, b := range p.bases {
		rest, isBelow := strings.CutPrefix(path, b.path)
		if b.origin == origin && isBelow && strings.HasPrefix(rest, "/") {
			return location{b, rest, u.RawQuery}, true
		}
	}
	return location{}, false
}

// hasDotSegment reports whether a segment of an escaped path is "." or "..", in any spelling. Clients, proxies and servers
// resolve such segments differently, so it is unknown which object the request is about.
func hasDotSegment(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		plain, err := url.PathUnescape(segment)
		if err == nil && (plain == "." || plain == "..") {
			return true
		}
	}
	return false
}

// findAgent adds the agent server in a response with a deployment. That response precedes the requests to the agent
// server.
func (p *player) findAgent(e Entry, at location) {
	isDeployment := at.side == spec.ControlPlane && e.Status/100 == 2 && strings.HasPrefix(at.path, "/v2/deployments")
	if !isDeployment || p.target.Config.AgentTarget != "" {
		return
	}
	named := gjson.GetBytes(e.ResponseBody, p.target.Config.AgentURLFrom).Str
	u, err := url.Parse(named)
	isWeb := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	if !isWeb || !exchange.IsJSON(e.ResponseBody) {
		return
	}
	if p.addBase(spec.AgentServer, named) && p.target.AgentAddress() == "" {
		p.target.JudgeAgentAt(strings.TrimRight(named, "/"))
	}
}

// learn notes the facts about the whole recording that are needed before the first exchange is judged.
func (p *player) learn(e Entry, at location) {
	op := p.target.Collector.Find(at.side, e.Method, at.path)
	p.callers.learn(e, at, op)
	isServed := e.Status/100 == 2
	switch op.ID {
	case "search-threads":
		p.callers.searched = p.callers.searched || isServed
	case "list-threads":
		isList := isServed && exchange.IsJSON(e.ResponseBody) && gjson.ParseBytes(e.ResponseBody).IsArray()
		p.callers.listed = p.callers.listed || isList
	case "create-run":
		p.learnRun(e, at, op)
	}
	if p.callers.searched && !p.callers.listed {
		p.target.ListsBySearch()
	}
}

// learnRun notes an accepted run, and a rollback that may have been accepted.
func (p *player) learnRun(e Entry, at location, op *spec.Operation) {
	var sent, shown gjson.Result
	if exchange.IsJSON(e.Body) {
		sent = gjson.ParseBytes(e.Body)
	}
	if exchange.IsJSON(e.ResponseBody) {
		shown = gjson.ParseBytes(e.ResponseBody)
	}
	id := shown.Get("run_id").String()
	thread := at.address + " " + op.In(at.path, "thread_id")
	if sent.Get("multitask_strategy").Str == agent.RollbackStrategy && e.Status/100 != 4 {
		p.rollbacks[thread] = append(p.rollbacks[thread], rollback{id, e.Sent})
	}
	messages := sent.Get("input.messages").Array()
	if e.Status/100 != 2 || id == "" || len(messages) == 0 {
		return
	}
	words := strings.Fields(messages[len(messages)-1].Get("content").Str)
	isConformance := sent.Get("assistant_id").Str == p.target.Config.AssistantID
	p.runs[thread+" "+id] = run{mayRaise: !isConformance || slices.Contains(words, agent.Fail)}
}

// message returns an entry without credentials, except those of the configuration.
func (p *player) message(e Entry, at location) message {
	op := p.target.Collector.Find(at.side, e.Method, at.path)
	r := exchange.Request{Side: at.side, Base: at.address, Method: e.Method, Path: at.path, Query: at.query, Body: e.Body,
		Repeated: e.Repeated, Recorded: true, Wrong: hasDotSegment(at.path)}
	p.callers.identify(&r, e)
	r.Body = p.callers.without(e.Body)
	if exchange.IsJSON(r.Body) {
		r.Body = p.target.Client.Words.FromTarget(at.side, r.Body)
	}
	thread, id := at.address+" "+op.In(at.path, "thread_id"), op.In(at.path, "run_id")
	if id != "" {
		known, isKnown := p.runs[thread+" "+id]
		r.Raised = op.ID == "join-run" && (!isKnown || known.mayRaise)
		isRemovable := p.isRemovable(thread, id, e)
		r.Removable = func() bool { return isRemovable }
	}
	if e.Status == 0 {
		return message{p.subject(e, at), r, e.Sent, nil, "the recording has no response"}
	}
	if at.side == spec.AgentServer {
		isDown := slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, e.Status)
		r.Early = isDown && !p.served[at.address]
		p.served[at.address] = p.served[at.address] || e.Status < http.StatusInternalServerError
	}
	a := &exchange.Response{Request: r, Status: e.Status, Header: p.callers.shown(e.Response), Body: p.callers.without(e.ResponseBody),
		Sent: e.Sent, Took: e.Took, Cut: e.Cut}
	if a.CheckJSON() {
		received := a.Body
		a.Body = p.target.Client.Words.FromTarget(at.side, received)
		a.Received = received
	}
	return message{p.subject(e, at), r, e.Sent, a, ""}
}

// isRemovable reports whether a rollback may have removed a run before the response of an entry.
func (p *player) isRemovable(thread, id string, e Entry) bool {
	return slices.ContainsFunc(p.rollbacks[thread], func(by rollback) bool {
		return by.run != id && by.sent.Before(e.Sent.Add(e.Took)) || by.run != id && e.Took == 0 && by.sent.Equal(e.Sent)
	})
}

// subject returns the name of an exchange's thread or deployment. The chain of a finding has the exchanges with the same
// name.
func (p *player) subject(e Entry, at location) string {
	kind, field, depth := "thread", "thread_id", 1
	if at.side == spec.ControlPlane {
		kind, field, depth = "deployment", "id", 2
	}
	segments := strings.Split(strings.Trim(at.path, "/"), "/")
	id := ""
	switch {
	case len(segments) < depth || segments[depth-1] != kind+"s":
	case len(segments) > depth && segments[depth] != "search" && segments[depth] != "count":
		id = segments[depth]
	case len(segments) == depth && e.Method == http.MethodPost && exchange.IsJSON(e.ResponseBody):
		id = gjson.GetBytes(e.ResponseBody, field).String()
	}
	if id == "" {
		return "recording: other requests"
	}
	key := kind + " " + id
	if p.subjects[key] == "" {
		p.subjects[key] = "recording: " + kind + " " + safe.Cut(p.target.Redact.Text(exchange.IDKey(id)), 100)
	}
	return p.subjects[key]
}
