package story

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// lists contains the operations whose responses are lists, and the kind of their items.
var lists = map[string]string{
	"list-revisions": "revision", "list-deployments": "deployment", "list-runs": "run",
	"list-threads": "thread", "search-threads": "thread",
}

// items returns the items of the list that shows the violation. Pages of one list are shown together. A mistake has a
// note if the requests of the story prove it.
func (t *teller) items() []Item {
	list := t.list()
	if list == nil {
		return nil
	}
	kind, array := lists[list.Operation], "/resources"
	if list.response.IsArray() {
		array = ""
	}
	wrongIndex := t.wrongIndex(array)
	var all []Item
	seen := map[string]bool{}
	for _, page := range t.pages(list) {
		limit := limitOf(page)
		for i, value := range listIn(page.response) {
			id := key(idOf(value))
			item := t.item(kind, idOf(value), value)
			switch {
			case seen[id] && id != "":
				item.Note = "repeated"
			case kind == "revision" && isExcluded(page, value):
				item.Note = "does not match the filter"
			case kind == "revision" && limit > 0 && i >= limit:
				item.Note = "beyond the limit of " + strconv.Itoa(limit)
			case kind == "thread":
				item.Note = t.foreign(id)
			}
			item.Wrong = item.Note != "" || page == t.shown && i == wrongIndex
			if o := t.objects[id]; o != nil && o.first == t.shown && list != t.shown {
				item.Note = "new"
			}
			seen[id] = true
			all = append(all, item)
		}
	}
	for _, id := range t.expected(kind, list) {
		if seen[key(id)] {
			continue
		}
		item := t.item(kind, id, t.latest(id))
		item.Note, item.Wrong = "missing", true
		at := slices.IndexFunc(all, func(other Item) bool { return kind == "revision" && other.number < item.number })
		if at < 0 {
			at = len(all)
		}
		all = slices.Insert(all, at, item)
	}
	return all
}

// list returns the response with the list. This is the response that shows the violation. If that is the response to a
// write, it is the last list that was read after it.
func (t *teller) list() *event {
	if lists[t.shown.Operation] != "" {
		return t.shown
	}
	if t.shown.Method == "GET" {
		return nil
	}
	for _, e := range slices.Backward(t.events[slices.Index(t.events, t.shown):]) {
		if lists[e.Operation] != "" && e.isOK() {
			return e
		}
	}
	return nil
}

// wrongIndex returns the index of the element to which the finding points, of the array at a pointer, or -1.
func (t *teller) wrongIndex(array string) int {
	rest, below := strings.CutPrefix(t.finding.Pointer, array+"/")
	first, _, _ := strings.Cut(rest, "/")
	index, err := strconv.Atoi(first)
	if !below || err != nil {
		return -1
	}
	return index
}

// item returns an item with the details that help to recognize it.
func (t *teller) item(kind, id string, value gjson.Result) Item {
	item := Item{ID: safe.Ellipsis(t.short(id), 45)}
	if o := t.objects[key(id)]; o != nil && o.kind == kind {
		item.Name, item.number = t.name(kind, id), o.number
	}
	ref := value.Get("source_revision_config.repo_ref").String()
	if ref != "" {
		ref = "repo_ref " + ref
	}
	owner := ""
	if name := t.userName(t.creators()[key(id)]); name != "" && kind == "thread" && len(t.users()) > 0 {
		owner = "created by " + name
	}
	item.Details = safe.Ellipsis(reports.Joined(", ", value.Get("status").String(), ref, owner), maxText)
	return item
}

// pages returns the pages of a list: the one that is shown, and those of the same list with other offsets
// that the same scenario requested outside of the set-up.
func (t *teller) pages(shown *event) (pages []*event) {
	list := listOf(shown)
	for _, e := range t.events {
		isPage := e.Operation == shown.Operation && e.part != reports.SetUp && e.Scenario == shown.Scenario &&
			e.caller == shown.caller && e.isOK() && listOf(e) == list && offsetOf(e) != offsetOf(shown)
		if isPage || e == shown {
			pages = append(pages, e)
		}
	}
	return pages
}

// listOf returns the address and the parameters of a list without its offset.
func listOf(e *event) string {
	path, _, _ := strings.Cut(e.path, "?")
	values := parameters(e)
	values.Del("offset")
	return path + "?" + values.Encode() + e.Request.Body
}

func offsetOf(e *event) string { return parameters(e).Get("offset") }

func parameters(e *event) url.Values {
	_, raw, _ := strings.Cut(e.path, "?")
	values, _ := url.ParseQuery(raw) // the suite also sends invalid queries: then some parameters are missing
	return values
}

// limitOf returns the limit of a page of revisions, or 0 if it is not valid.
func limitOf(e *event) int {
	values := parameters(e)
	if !values.Has("limit") {
		return 20
	}
	if n, err := strconv.Atoi(values.Get("limit")); err == nil && n >= 1 && n <= 100 {
		return n
	}
	return 0
}

// isExcluded reports whether the status filter of a request excludes a revision that the response shows.
func isExcluded(page *event, revision gjson.Result) bool {
	filter := parameters(page).Get("status")
	return filter != "" && !slices.Contains(strings.Split(filter, ","), revision.Get("status").String())
}

// expected returns the ids of the objects that the list must contain. These are all revisions of the deployment if all
// pages are present and have no filter, or the threads of the caller if the finding is about the whole list.
func (t *teller) expected(kind string, list *event) (ids []string) {
	if list.isCut {
		return nil
	}
	switch kind {
	case "thread":
		if list != t.shown || !list.response.IsArray() || t.finding.Pointer != "" || list.Operation != "list-threads" {
			return nil
		}
		for _, e := range t.events {
			if e.Operation == "create-thread" && e.caller == list.caller && e.Scenario == list.Scenario && !t.isDeleted(e.created) {
				ids = append(ids, e.created)
			}
		}
	case "revision":
		if !t.hasAllPages(list) {
			return nil
		}
		for id, o := range t.objects {
			if o.kind == kind && key(o.parent) == key(list.ids["deployment"]) {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b string) int { return t.objects[b].number - t.objects[a].number })
	}
	return ids
}

// isDeleted reports whether a request of the story deletes an object, or the object is unknown.
func (t *teller) isDeleted(id string) bool {
	return id == "" || slices.ContainsFunc(t.events, func(e *event) bool {
		return e.Method == "DELETE" && strings.Contains(e.path, id)
	})
}

// hasAllPages reports whether the pages begin with offset 0, end with one that is not full, and have no filter.
func (t *teller) hasAllPages(list *event) bool {
	first, last := false, false
	for _, page := range t.pages(list) {
		values := parameters(page)
		if values.Get("status") != "" || values.Has("remote_reconciled") || limitOf(page) == 0 {
			return false
		}
		offset := values.Get("offset")
		if page.isCut {
			return false
		}
		first = first || offset == "" || offset == "0"
		last = last || len(listIn(page.response)) < limitOf(page)
	}
	return first && last
}

// creators returns the callers that created the threads of the test run, by the key of the thread's id.
func (t *teller) creators() map[string]string {
	if t.creatorOf == nil {
		t.creatorOf = map[string]string{}
		for _, x := range t.result.Exchanges {
			if x.Operation == "create-thread" {
				t.creatorOf[key(parse(x.Response.Body).Get("thread_id").String())] = callerOf(x.Request)
			}
		}
	}
	return t.creatorOf
}

// foreign returns the note for a thread that a user other than the caller created, or "".
func (t *teller) foreign(id string) string {
	creator := t.creators()[id]
	isUser := t.userName(creator) != "" && t.userName(t.shown.caller) != "" // others may see the threads of all users
	if !isUser || creator == t.shown.caller {
		return ""
	}
	return "of another user"
}

// latest returns details of an object from the last response that contains it.
func (t *teller) latest(id string) gjson.Result {
	for _, e := range slices.Backward(t.events) {
		if value := find(e.response, key(id)); e.isOK() && value.Exists() {
			return value
		}
	}
	return gjson.Result{}
}
