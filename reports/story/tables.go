package story

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// run is a run that a request of the story started.
type run struct {
	event      *event
	input      string
	refused    bool // the request to start it got an error status
	completed  bool // the client waited for it, or a response showed it as completed
	rolledBack bool // a later run with the strategy rollback was started before
	replacedBy *event
}

// runsOf returns the runs that were started on a thread, in this order.
func (t *teller) runsOf(thread string) []*run {
	var runs []*run
	for _, e := range t.events {
		if key(e.ids["thread"]) != key(thread) {
			continue
		}
		switch {
		case e.Operation == "create-run" && e.Status >= 400:
			runs = append(runs, &run{event: e, input: inputOf(e), refused: true})
		case e.Operation == "create-run" && e.isOK():
			if e.request.Get("multitask_strategy").String() == "rollback" {
				markRolledBack(runs, e)
			}
			runs = append(runs, &run{event: e, input: inputOf(e)})
		case e.isOK() && showsEnd(e):
			markCompleted(runs, e.ids["run"])
		}
	}
	return runs
}

// markRolledBack marks the runs that were unfinished when e started a run with rollback.
func markRolledBack(runs []*run, e *event) {
	for _, r := range runs {
		if !r.completed && !r.rolledBack && !r.refused {
			r.rolledBack, r.replacedBy = true, e
		}
	}
}

// markCompleted marks the runs with the id.
func markCompleted(runs []*run, id string) {
	for _, r := range runs {
		if key(r.event.created) == key(id) {
			r.completed = true
		}
	}
}

// showsEnd reports whether a successful response shows that its run has completed.
func showsEnd(e *event) bool {
	return e.Operation == "join-run" || e.Operation == "get-run" && statusOf(e) == "success"
}

// inputOf returns the texts of the messages that a request sends, one on each line.
func inputOf(e *event) string {
	var texts []string
	for _, message := range e.request.Get("input.messages").Array() {
		texts = append(texts, message.Get("content").String())
	}
	return strings.Join(texts, "\n")
}

// replacedBy returns the names of the runs that the run of an event replaces.
func (t *teller) replacedBy(e *event) (names []string) {
	for _, r := range t.runsOf(e.ids["thread"]) {
		if r.replacedBy == e {
			names = append(names, t.name("run", r.event.created))
		}
	}
	return names
}

// messages returns the messages of the response that shows the violation, with the runs that sent them. Messages of
// rolled-back runs and messages without a run are wrong. Messages of completed runs may be missing.
func (t *teller) messages() []Message {
	e := t.shown
	place, messages := "/values/messages", e.response.Get("values.messages")
	if e.Operation == "join-run" {
		place, messages = "/messages", e.response.Get("messages")
	}
	if !messages.IsArray() {
		return nil
	}
	isAbout := strings.HasPrefix(t.finding.Pointer, place)
	wrongIndex := t.wrongIndex(place)
	runs := t.runsOf(e.ids["thread"])
	var all []Message
	of := messagesOf(runs, messages.Array()) // index of the run of each message, or -1
	for i, m := range messages.Array() {
		content, current := m.Get("content").String(), of[i]
		message := Message{Type: kindOf(m), Text: safe.Ellipsis(content, maxText), Wrong: i == wrongIndex}
		switch {
		case current < 0:
			message.Run, message.Note = t.otherRun(content, e.ids["thread"])
			isForeign := message.Run == "" || message.Note != ""
			message.Wrong = message.Wrong || isForeign && isAbout && wrongIndex < 0 && len(runs) > 0
		case runs[current].refused:
			message.Run, message.Note, message.Wrong = "a run", "refused", message.Wrong || isAbout
		case runs[current].rolledBack:
			message.Note, message.Wrong = "rolled back", message.Wrong || isAbout
			fallthrough
		default:
			message.Run = t.name("run", runs[current].event.created)
		}
		all = append(all, message)
	}
	if !isAbout || wrongIndex >= 0 {
		return all
	}
	for n, r := range runs {
		message := Message{Type: missing(r, of, n), Missing: true, Wrong: true}
		switch message.Type {
		case "":
			continue
		case "human":
			message.Text = safe.Ellipsis(r.input, maxText)
		}
		message.Run = t.name("run", r.event.created)
		at := slices.IndexFunc(of, func(of int) bool { return of > n })
		if at < 0 {
			at = len(all)
		}
		all, of = slices.Insert(all, at, message), slices.Insert(of, at, n)
	}
	return all
}

// answers are the types of messages that a run adds after its input.
var answers = map[string]bool{"ai": true, "assistant": true, "tool": true}

// messagesOf returns the index of the run of each message, or -1: the run whose input it contains or, for an answer without
// an input, the run of the message before. If several runs have the same input, the human messages belong to the last ones.
func messagesOf(runs []*run, all []gjson.Result) []int {
	humans := map[string]int{} // messages with an input that are still to come
	for _, m := range all {
		if found := withInput(runs, m); len(found) > 0 && !answers[kindOf(m)] {
			humans[runs[found[0]].input]++
		}
	}
	var of []int
	current := -1
	for _, m := range all {
		found := withInput(runs, m)
		switch {
		case len(found) == 0 && answers[kindOf(m)]: // of the run of the message before
		case len(found) == 0:
			current = -1
		case !answers[kindOf(m)]:
			input := runs[found[0]].input
			current = found[max(0, len(found)-humans[input])]
			humans[input]--
		case !slices.Contains(found, current):
			current = found[0]
		}
		of = append(of, current)
	}
	return of
}

// withInput returns the indices of the runs with the longest input that a message contains.
func withInput(runs []*run, m gjson.Result) (found []int) {
	content := m.Get("content").String()
	for i, r := range runs {
		switch {
		case r.input == "" || !strings.Contains(content, r.input):
		case len(found) == 0 || len(r.input) > len(runs[found[0]].input):
			found = []int{i}
		case r.input == runs[found[0]].input:
			found = append(found, i)
		}
	}
	return found
}

// kindOf returns the type of a message, or its role.
func kindOf(m gjson.Result) string { return cmp.Or(m.Get("type").String(), m.Get("role").String()) }

// sentInput is the input of a run that a request of the test run has sent to a thread.
type sentInput struct{ text, thread string }

// otherRun returns a name and a note for the run of a message that no run of the story has sent: requests to the same thread
// that had no part in the finding may have started runs. Both are empty if no request of the test run has sent the message.
func (t *teller) otherRun(content, thread string) (name, note string) {
	if t.inputs == nil {
		t.inputs = t.allInputs()
	}
	for _, input := range t.inputs {
		switch {
		case !strings.Contains(content, input.text):
		case input.thread == key(thread):
			return "another run", ""
		default:
			return "another run", "of another thread"
		}
	}
	return "", ""
}

func (t *teller) allInputs() []sentInput {
	all := []sentInput{}
	for _, x := range t.result.Exchanges {
		if x.Operation != "create-run" {
			continue
		}
		e := &event{Exchange: x, request: parse(x.Request.Body)}
		if text := inputOf(e); text != "" {
			all = append(all, sentInput{text, key(idsIn(t.pathOf(x.URL))["thread"])})
		}
	}
	return all
}

// missing returns the type of the message of a completed run that a state lacks, or "". A run has its input and at least
// one more message, unless it was ordered to fail.
func missing(r *run, of []int, n int) string {
	count := 0
	for _, index := range of {
		if index == n {
			count++
		}
	}
	switch {
	case !r.completed || r.rolledBack || r.input == "" || count > 1:
	case count == 0:
		return "human"
	case !slices.Contains(strings.Fields(r.input), "fail"):
		return "ai"
	}
	return ""
}

// field returns the value that the finding is about, and the event with the value before. Both may be nil.
func (t *teller) field() (*Field, *event) {
	pointer, e := t.finding.Pointer, t.shown
	if e == nil || !e.response.Exists() || strings.Contains(pointer, "*") || !strings.HasPrefix(pointer, "/") {
		return nil, nil
	}
	object, rest := e.response, reports.JSONPath(pointer)
	if first := object.Get(rest[0]); first.IsArray() || object.IsArray() {
		return nil, nil // the finding is about a list
	}
	path := strings.Join(rest, ".")
	after := object.Get(path)
	if after.IsArray() || after.IsObject() {
		return nil, nil
	}
	f := &Field{Name: strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", "."), After: safe.CutJSON(after.Raw, maxValue)}
	other, value, sent := t.valueBefore(path, after.Raw)
	if other == nil && !after.Exists() {
		return nil, nil
	}
	f.Before, f.Sent = safe.CutJSON(value, maxValue), sent
	return f, other
}

// valueBefore returns the latest event before the shown one that has a different value at a path of the same object: in
// its response or, if it is an update, in its request. If there is none, it searches the later events.
func (t *teller) valueBefore(path, after string) (e *event, value string, sent bool) {
	at := slices.Index(t.events, t.shown)
	id := key(idOf(t.shown.response))
	order := slices.Clone(t.events[:at])
	slices.Reverse(order)
	for _, e := range append(order, t.events[at+1:]...) {
		if value := find(e.response, id).Get(path); e.isOK() && value.Exists() && value.Raw != after {
			return e, value.Raw, false
		}
		isWrite := e.Operation == "update-deployment" || e.Operation == "create-deployment"
		value := e.request.Get(path)
		about := cmp.Or(e.ids["deployment"], e.created) == t.shown.ids["deployment"]
		if isWrite && about && e.isOK() && t.shown.Operation == "get-deployment" && value.Exists() && value.Raw != after {
			return e, value.Raw, true
		}
	}
	return nil, "", false
}

// idOf returns the id of the object in a response.
func idOf(object gjson.Result) string {
	for _, name := range []string{"id", "run_id", "thread_id"} {
		if id := object.Get(name); id.Type == gjson.String {
			return id.Str
		}
	}
	return ""
}

// find returns the object with an id in a response: the response, or an item of its list.
func find(response gjson.Result, id string) gjson.Result {
	if id == "" || key(idOf(response)) == id {
		return response
	}
	for _, item := range listIn(response) {
		if key(idOf(item)) == id {
			return item
		}
	}
	return gjson.Result{}
}

// listIn returns the items of a response that is a list, or whose resources are a list.
func listIn(response gjson.Result) []gjson.Result {
	if response.IsArray() {
		return response.Array()
	}
	return response.Get("resources").Array()
}
