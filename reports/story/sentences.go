package story

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// sentence is the text for the requests of one operation. {kind} is the name of the object in the path or, if the request
// created it, in the response.
type sentence struct {
	text string
	many string // for several similar requests; %d is their number
	// details returns words after the sentence, or "". It may be nil.
	details func(t *teller, e *event) string
}

// sentences has a row for each operation of the OpenAPI documents.
var sentences = map[string]sentence{
	"get-ok":   {"Check that the server is up", "", nil},
	"get-info": {"Read what the server supports", "", nil},

	"search-assistants":       {"Search assistants", "Search assistants %d times", body},
	"count-assistants":        {"Count assistants", "", body},
	"get-assistant":           {"Read an assistant", "Read %d assistants", nil},
	"get-assistant-graph":     {"Read the graph of an assistant", "", nil},
	"get-assistant-schemas":   {"Read the schemas of an assistant", "", nil},
	"get-assistant-subgraphs": {"Read the subgraphs of an assistant", "", nil},

	"create-thread":  {"Create {thread}", "Create %d threads", body},
	"list-threads":   {"List the threads", "List the threads %d times", query},
	"search-threads": {"Search threads", "Search threads %d times", body},
	"count-threads":  {"Count threads", "Count threads %d times", body},
	"get-thread":     {"Read {thread}", "Read %d threads", nil},
	"update-thread":  {"Update {thread}", "Update threads %d times", body},
	"delete-thread":  {"Delete {thread}", "Delete %d threads", nil},
	"copy-thread":    {"Copy a thread to {thread}", "Copy %d threads", nil},

	"get-state":       {"Read the state of {thread}", "Read states %d times", messageCount},
	"update-state":    {"Update the state of {thread}", "Update states %d times", body},
	"find-checkpoint": {"Read a checkpoint of {thread}", "Read %d checkpoints", nil},
	"get-checkpoint":  {"Read a checkpoint of {thread}", "Read %d checkpoints", nil},
	"get-history":     {"List the states of {thread}", "List states %d times", query},
	"search-history":  {"Search the states of {thread}", "Search states %d times", body},

	"create-run":      {"Start {run}", "Start %d runs", runDetails},
	"list-runs":       {"List the runs of {thread}", "List the runs %d times", query},
	"get-run":         {"Read {run}", "Read %d runs", runStatus},
	"delete-run":      {"Delete {run}", "Delete %d runs", nil},
	"join-run":        {"Wait for {run}", "Wait for %d runs", duration},
	"wait-run":        {"Start a run on {thread} and wait for it", "Start %d runs and wait for them", runDetails},
	"stream-run":      {"Start a run on {thread} and read its events", "Start %d runs and read their events", runDetails},
	"join-run-stream": {"Read the events of {run}", "Read the events of %d runs", nil},
	"cancel-run":      {"Cancel {run}", "Cancel %d runs", nil},

	"create-stateless-run": {"Start a run without a thread", "Start %d runs without a thread", runDetails},
	"wait-stateless-run":   {"Start a run without a thread and wait for it", "", runDetails},
	"stream-stateless-run": {"Start a run without a thread and read its events", "", runDetails},
	"create-run-batch":     {"Start several runs without a thread", "", nil},
	"cancel-runs":          {"Cancel several runs", "", nil},

	"create-deployment": {"Create {deployment}", "Create %d deployments", source},
	"list-deployments":  {"List the deployments", "List the deployments %d times", query},
	"get-deployment":    {"Read {deployment}", "Read %d deployments", latest},
	"update-deployment": {"Update {deployment}", "Update the deployment %d times", changes},
	"delete-deployment": {"Delete {deployment}", "Delete %d deployments", nil},
	"list-revisions":    {"List the revisions", "List the revisions %d times", query},
	"get-revision":      {"Read {revision}", "Read %d revisions", status},
	"redeploy-revision": {"Deploy {revision} again", "Deploy %d revisions again", nil},
}

// kind matches a kind of objects in a sentence.
var kind = regexp.MustCompile(`\{\w+\}`)

func (t *teller) step(number int, g group) Step {
	e := g.last()
	request := safe.Ellipsis(e.Method+" "+t.short(e.path), maxText)
	return Step{
		Number: number, Exchange: e.ID, Text: safe.Ellipsis(t.sentence(g), maxText), Request: request + t.creates(g),
		Status: e.Status, Wrong: e == t.shown, Repeat: len(g),
	}
}

// creates returns what the requests of a group have created: " → run A …9e7b", " → run A to run E", or "".
func (t *teller) creates(g group) string {
	first, last := t.objects[key(g[0].created)], t.objects[key(g.last().created)]
	switch {
	case first == nil || last == nil || len(g) > 1 && first == last:
		return ""
	case len(g) > 1:
		return " → " + t.name(first.kind, g[0].created) + " to " + t.name(last.kind, g.last().created)
	}
	return " → " + strings.TrimPrefix(t.name(last.kind, g[0].created), "the ") + " " + t.short(g[0].created)
}

func (t *teller) sentence(g group) string {
	e := g.last()
	row, known := sentences[e.Operation]
	isPoll := e.Method == "GET" && !slices.ContainsFunc(g, func(other *event) bool { return !other.isSame(e) })
	replaced := t.replacedBy(e)
	switch {
	case known && len(g) > 1 && !isPoll:
		many := cmp.Or(row.many, row.text+" %d times")
		return fmt.Sprintf(kind.ReplaceAllString(many, "an object"), len(g)) + t.by(e) + t.sharedDetails(row, g)
	case len(replaced) > 0:
		return "Replace " + and(replaced) + ": start " + t.objectName(e, "run") + t.by(e) + runDetails(t, e)
	case t.isWaitForBuild(e):
		return t.request(e)
	}
	return t.request(e) + t.sharedDetails(row, group{e})
}

// request returns the text for a request without details.
func (t *teller) request(e *event) string {
	row, known := sentences[e.Operation]
	switch {
	case !known:
		return "Send " + e.Method + " " + t.short(e.path) + t.by(e)
	case t.isWaitForBuild(e):
		return "Wait until " + t.objectName(e, "revision") + " is " + statusOf(e)
	}
	name := func(kind string) string { return t.objectName(e, strings.Trim(kind, "{}")) }
	return kind.ReplaceAllStringFunc(row.text, name) + t.by(e)
}

// isWaitForBuild reports whether the suite read a revision to wait until it was settled.
func (t *teller) isWaitForBuild(e *event) bool {
	return e.Operation == "get-revision" && e.part == reports.SetUp && e != t.shown && IsSettled(statusOf(e))
}

// sentenceWith returns the text for a group whose last response shows a wrong value, with that value.
func (t *teller) sentenceWith(g group, f *Field) string {
	e := g.last()
	if e.Method != "GET" {
		return t.sentence(g)
	}
	text := t.request(e)
	if f.After == "" {
		return text + ": " + f.Name + " is missing"
	}
	return text + ": " + f.Name + " is " + safe.Ellipsis(f.After, 80)
}

// sharedDetails returns the details of the requests of a group, or "" if they differ.
func (t *teller) sharedDetails(row sentence, g group) string {
	if row.details == nil {
		return ""
	}
	details := row.details(t, g.last())
	for _, e := range g {
		if row.details(t, e) != details {
			return ""
		}
	}
	return details
}

// objectName returns the name of the object of a request. It begins with "a" if the request creates the only one.
func (t *teller) objectName(e *event, kind string) string {
	created := t.objects[key(e.created)]
	switch {
	case created != nil && created.kind == kind:
		return strings.Replace(t.name(kind, e.created), "the ", "a ", 1)
	case strings.HasPrefix(e.Operation, "create-"):
		return "a " + kind
	}
	return t.name(kind, e.ids[kind])
}

// body returns the members of the request: ` with {"limit":10}`.
func body(_ *teller, e *event) string {
	text := strings.TrimSpace(e.Request.Body)
	if text == "" || text == "{}" {
		return ""
	}
	return " with " + safe.CutJSON(text, 80)
}

// query returns the parameters in the URL, and the number of items: " with limit=101 and offset=0: 2 revisions".
func query(t *teller, e *event) string {
	count := ""
	if kind := lists[e.Operation]; kind != "" && e.isOK() && e.response.Exists() {
		n := len(listIn(e.response))
		count = ": " + reports.Count(n, kind)
		if e.isCut {
			count = ": more than " + reports.Count(n, kind)
		}
	}
	return parametersOf(e) + count
}

func parametersOf(e *event) string {
	_, raw, _ := strings.Cut(e.path, "?")
	if raw == "" {
		return ""
	}
	parameters := strings.Split(raw, "&")
	for i, p := range parameters {
		parameters[i] = decoded(p, url.QueryUnescape)
	}
	return " with " + safe.Ellipsis(and(parameters), 100)
}

// and joins words: "a, b and c".
func and(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// hold matches the words with which an input tells the conformance graph how long to take.
var hold = regexp.MustCompile(`(?:^|\s)wait(?:-after-write)?=([0-9]{1,7})(?:\s|$)`)

// runDetails returns how long a run takes, and its multitask strategy.
func runDetails(t *teller, e *event) string {
	text := strategyOf(e)
	if match := hold.FindStringSubmatch(inputOf(e)); match != nil {
		ms, _ := strconv.ParseInt(match[1], 10, 64) // at most 7 digits
		text += ", which takes " + reports.Duration(ms)
	}
	input := e.request.Get("input")
	isWrong := e == t.shown && !e.isOK()
	switch {
	case !input.Exists() && isWrong:
		text += " with the body " + safe.CutJSON(e.Request.Body, 80)
	case input.Exists() && (isWrong || !input.IsObject()):
		text += " with the input " + safe.CutJSON(input.Raw, 80)
	}
	return text
}

func strategyOf(e *event) string {
	strategy := e.request.Get("multitask_strategy")
	if !strategy.Exists() {
		return ""
	}
	return " with multitask_strategy " + strings.Trim(safe.CutJSON(strategy.Raw, 30), `"`)
}

// messageCount returns the number of messages in a state.
func messageCount(_ *teller, e *event) string {
	messages := e.response.Get("values.messages")
	if !e.isOK() || !messages.IsArray() {
		return ""
	}
	return ": " + reports.Count(len(messages.Array()), "message")
}

// status returns the status of the run or revision in a response: ": DEPLOYED".
func status(_ *teller, e *event) string {
	if e.Status == 404 {
		return ": not found"
	}
	if status := e.response.Get("status"); e.isOK() && status.Type == gjson.String {
		return ": " + safe.Ellipsis(status.Str, 30)
	}
	return ""
}

// runStatus returns the status of the run in a response: ": its status is success".
func runStatus(t *teller, e *event) string {
	text := status(t, e)
	if e.isOK() && text != "" {
		return ": its status is " + strings.TrimPrefix(text, ": ")
	}
	return text
}

// duration returns how long a wait took that shows the violation.
func duration(t *teller, e *event) string {
	if e != t.shown || e.Status == 0 {
		return ""
	}
	return ": a response after " + reports.Duration(int64(e.MS))
}

// latest returns the name of the latest revision of a deployment that has several.
func latest(t *teller, e *event) string {
	id := e.response.Get("latest_revision_id").String()
	if !e.isOK() || id == "" || t.count["revision"+key(e.ids["deployment"])] < 2 {
		return ""
	}
	return ": the latest is " + t.name("revision", id)
}

// sourceConfig is the member of a deployment and of a revision with the source.
const sourceConfig = "source_revision_config"

// source returns the source of a deployment: " from git_host, repo_ref main". Without a finding about the source it is
// omitted for a deployment that only prepares the others.
func source(t *teller, e *event) string {
	request := e.request
	from := request.Get("source")
	isAbout := t != nil && strings.Contains(t.finding.Pointer, "/"+sourceConfig+"/")
	switch {
	case e.part == reports.SetUp && isAbout:
		return leaves(t, request.Get(sourceConfig), " from ")
	case e.part == reports.SetUp:
	case !request.IsObject():
		return body(nil, e)
	case from.Type == gjson.String:
		return " from " + safe.Ellipsis(from.Str, 30) + leaves(t, request.Get(sourceConfig), ", ")
	}
	return ""
}

// changes returns what an update changes: `: repo_ref "main", build_on_push false`.
func changes(t *teller, e *event) string {
	request := e.request
	if !request.IsObject() || len(request.Map()) == 0 {
		return " with the body " + safe.CutJSON(e.Request.Body, 60)
	}
	return leaves(t, request, ": ")
}

// leaves returns the names and values of the members of an object and of the objects in it, or "". The member that the
// finding is about is the first one, because the text may be cut.
func leaves(t *teller, object gjson.Result, before string) string {
	var wrong, texts []string
	var add func(members gjson.Result)
	add = func(members gjson.Result) {
		members.ForEach(func(name, value gjson.Result) bool {
			switch {
			case name.Str == "secrets":
			case value.IsObject():
				add(value)
			case t != nil && strings.HasSuffix(t.finding.Pointer, "/"+name.Str):
				wrong = append(wrong, name.Str+" "+safe.CutJSON(value.Raw, 60))
			default:
				texts = append(texts, name.Str+" "+safe.CutJSON(value.Raw, 40))
			}
			return true
		})
	}
	add(object)
	if text := reports.Joined(", ", append(wrong, texts...)...); text != "" {
		return before + safe.Ellipsis(text, 120)
	}
	return ""
}
