package story

import (
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// teller has the exchanges of a finding and the names of the objects in them.
type teller struct {
	result    *reports.Result
	finding   *reports.Finding
	events    []*event // in the order in which they were sent
	shown     *event   // the one that shows the violation, or nil
	objects   map[string]*object
	count     map[string]int // number of objects by kind
	callers   map[string]bool
	creatorOf map[string]string // filled by creators
	inputs    []sentInput       // filled by otherRun
	digits    int               // number of digits in short ids
}

// event is an exchange with the objects that it is about.
type event struct {
	reports.Exchange
	part     reports.Part
	path     string            // path of the URL, below the base URL of the server
	ids      map[string]string // ids in the path, by kind: "thread", "run", "deployment", "revision"
	created  string            // id of the object that the response created, or ""
	caller   string            // such as "users.0", see callerOf
	response gjson.Result      // the body, if it is valid JSON
	request  gjson.Result
	isCut    bool // the response is a list that was cut, so that only its first items are known
}

func (e *event) isOK() bool { return e.Status >= 200 && e.Status < 300 }

// isSame reports whether two events have the same request.
func (e *event) isSame(other *event) bool {
	return e.Method == other.Method && e.URL == other.URL && e.caller == other.caller && e.Request.Body == other.Request.Body
}

func newTeller(r *reports.Result, f *reports.Finding) *teller {
	t := &teller{
		result: r, finding: f,
		objects: map[string]*object{}, count: map[string]int{}, callers: map[string]bool{},
	}
	var texts []string
	for _, link := range f.Links() {
		x, err := r.Exchange(link.Exchange)
		if err != nil {
			continue // the result was edited by hand
		}
		e := &event{Exchange: x, part: link.Part, path: t.pathOf(x.URL), caller: callerOf(x.Request)}
		e.ids = idsIn(e.path)
		e.response, e.request = parse(x.Response.Body), parse(x.Request.Body)
		if lists[x.Operation] != "" && x.Response.FullSize() > len(x.Response.Body) {
			e.response, e.isCut = parseCutList(x.Response.Body), true
		}
		t.events = append(t.events, e)
		t.nameObjects(e)
		t.callers[e.caller] = true
		texts = append(texts, x.URL)
		if x.ID == f.Exchange {
			t.shown = e
		}
	}
	for id := range t.objects {
		texts = append(texts, id)
	}
	t.digits = safe.IDDigits(texts...)
	return t
}

// parse returns the value of a body, or one that does not exist if the body is not valid JSON.
func parse(body string) gjson.Result {
	if !gjson.Valid(body) {
		return gjson.Result{}
	}
	return gjson.Parse(body)
}

// parseCutList returns a list with the complete items at the beginning of a body that was cut, or a value that does not
// exist if there are none.
func parseCutList(body string) gjson.Result {
	end := strings.LastIndex(body, "},{")
	if end < 0 {
		return gjson.Result{}
	}
	items := body[:end+1]
	if list := parse(items + "]"); list.Exists() {
		return list
	}
	return parse(items + "]}")
}

// pathOf returns the path and the query of an address below the base URL of its server. The agent server may be below the
// control plane. An address of another server is returned unchanged.
func (t *teller) pathOf(address string) string {
	base := strings.TrimRight(t.result.Target.AgentServer, "/")
	rest, below := strings.CutPrefix(address, base)
	if base != "" && below && strings.HasPrefix(rest, "/") {
		return rest
	}
	if path := t.result.Target.PathOf(address); path != "" {
		return path
	}
	return address
}

// collections are the segments of a path that the id of an object may follow.
var collections = map[string]string{
	"threads": "thread", "runs": "run", "deployments": "deployment", "revisions": "revision",
}

// actions are segments that may follow a collection instead of an id.
var actions = map[string]bool{
	"search": true, "count": true, "wait": true, "stream": true, "batch": true, "cancel": true, "": true,
}

func idsIn(path string) map[string]string {
	path, _, _ = strings.Cut(path, "?")
	segments := strings.Split(path, "/")
	ids := map[string]string{}
	for i, segment := range segments[:len(segments)-1] {
		kind, id := collections[segment], segments[i+1]
		if kind == "" || actions[id] {
			continue
		}
		ids[kind] = decoded(id, url.PathUnescape)
	}
	return ids
}

// decoded returns a part of an address without percent-encoding. It returns the part unchanged if it was encoded twice,
// or escaped as in JSON before encoding. A secret that the server repeats in such a form is not redacted, and decoding it
// would reveal it.
func decoded(part string, decode func(string) (string, error)) string {
	plain, err := decode(part)
	if err != nil || strings.ContainsAny(plain, `%\`) {
		return part
	}
	return plain
}

// short shortens the ids in a text.
func (t *teller) short(text string) string { return safe.LastDigits(text, t.digits) }
