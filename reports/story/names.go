package story

import (
	"fmt"
	"maps"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// object is a thread, run, deployment or revision that a response contains.
type object struct {
	kind   string
	number int    // number in the order of appearance; for a revision, within its deployment
	parent string // id of the deployment of a revision
	first  *event // the first event whose response contains it
}

// key returns the form of an id in which it is compared: servers may write a UUID in either case.
func key(id string) string { return strings.ToLower(id) }

// nameObjects gives numbers to the objects in the response of an event that are new.
func (t *teller) nameObjects(e *event) {
	if !e.isOK() {
		return
	}
	switch e.Operation {
	case "create-thread", "copy-thread":
		e.created = t.add(e, "thread", e.response.Get("thread_id"), "")
	case "create-run":
		e.created = t.add(e, "run", e.response.Get("run_id"), "")
	case "create-deployment":
		e.created = t.add(e, "deployment", e.response.Get("id"), "")
		t.add(e, "revision", e.response.Get("latest_revision_id"), e.created)
	case "get-deployment", "update-deployment":
		known := t.add(e, "revision", e.response.Get("latest_revision_id"), e.ids["deployment"])
		if known != "" && e.Operation == "update-deployment" && t.objects[key(known)].number > 1 {
			e.created = known
		}
	case "list-revisions":
		for _, item := range slices.Backward(e.response.Get("resources").Array()) { // the newest one is first
			t.add(e, "revision", item.Get("id"), e.ids["deployment"])
		}
	}
}

// add numbers an object if it is new, and returns its id.
func (t *teller) add(e *event, kind string, id gjson.Result, parent string) string {
	if id.Type != gjson.String || id.Str == "" {
		return ""
	}
	if t.objects[key(id.Str)] == nil {
		counter := kind + key(parent)
		t.count[counter]++
		t.objects[key(id.Str)] = &object{kind, t.count[counter], parent, e}
	}
	return id.Str
}

// name returns the name of an object: "run A", "the thread", or "run …9e7b" if no response contains it.
func (t *teller) name(kind, id string) string {
	o := t.objects[key(id)]
	switch {
	case id == "":
		return "a " + kind
	case o == nil || o.kind != kind:
		return kind + " " + safe.Ellipsis(t.short(id), 45)
	case kind == "run" && o.number <= 26:
		return fmt.Sprintf("run %c", 'A'+o.number-1)
	case kind == "revision" && t.count["deployment"] > 1:
		return fmt.Sprintf("revision %d of %s", o.number, t.name("deployment", o.parent))
	case kind != "run" && kind != "revision" && t.count[kind] == 1:
		return "the " + kind
	}
	return fmt.Sprintf("%s %d", kind, o.number)
}

// Callers that are not keys of the configuration.
const (
	anonymous = "no credentials"
	empty     = "empty credentials"
	unknown   = "unknown credentials"
	changed   = "changed credentials"
)

// credentials are the headers that contain credentials if the configuration does not name others.
var credentials = []string{"Authorization", "X-Api-Key", "X-Tenant-Id"}

// variable matches a header value that is exactly one secret of the configuration.
var variable = regexp.MustCompile(`^(?:Bearer )?\$AGENTCONFORM_(?:(USERS)_([0-9]{1,3})_TOKEN|([A-Z_]+)_(?:API_KEY|TENANT_ID|BEARER|TOKEN))$`)

// callerOf returns the key of the credentials of a request, such as "users.0", "credentials" or "agent.blocked", or one of
// the constants. Secrets are compared by the names of their variables, at the places that the suite has recorded.
func callerOf(m reports.Message) string {
	caller := anonymous
	secret := map[string]bool{}
	for _, place := range m.Secrets {
		if place.Header != "" {
			secret[textproto.CanonicalMIMEHeaderKey(place.Header)] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(secret)) {
		parts := variable.FindStringSubmatch(m.Header(name))
		switch {
		case parts == nil:
			return changed
		case parts[1] != "":
			return "users." + parts[2]
		}
		caller = strings.ToLower(strings.Replace(parts[3], "AGENT_", "agent.", 1))
	}
	for _, name := range credentials {
		value, exists := m.Headers[name]
		if caller != anonymous || !exists || secret[name] {
			continue
		}
		caller = unknown
		text := strings.TrimSpace(strings.Join(value, ""))
		if text == "" || text == "Bearer" {
			caller = empty
		}
	}
	return caller
}

// userNames are the names of users whose names are not in the configuration, in its order.
var userNames = []string{"Alice", "Bob", "Carol", "Dave", "Erin", "Frank", "Grace", "Heidi"}

// userName returns the name of a caller who is a user, or "".
func (t *teller) userName(caller string) string {
	number, isUser := strings.CutPrefix(caller, "users.")
	n, err := strconv.Atoi(number)
	names := t.result.Target.Users
	switch {
	case !isUser || err != nil:
		return ""
	case n < len(names) && names[n] != "":
		return safe.Ellipsis(names[n], 40)
	case n < len(userNames) && !slices.Contains(names, userNames[n]):
		return userNames[n]
	}
	return fmt.Sprintf("user %d", n+1)
}

// users returns the users of the story, or nil if there are fewer than two.
func (t *teller) users() (all []User) {
	for _, caller := range slices.Sorted(maps.Keys(t.callers)) {
		if name := t.userName(caller); name != "" {
			all = append(all, User{name, caller})
		}
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// by returns the words about the sender of a request: " as Bob", " without credentials", or "" if all users are the same.
func (t *teller) by(e *event) string {
	name, text := t.userName(e.caller), " with the credentials "+e.caller
	switch {
	case name != "" && len(t.users()) == 0, e.caller == "credentials":
		text = ""
	case name != "":
		text = " as " + name
	case e.caller == anonymous:
		text = " without credentials"
	case e.caller == empty, e.caller == unknown, e.caller == changed:
		text = " with " + e.caller
	}
	if headers := otherHeaders(e.Request); text != "" && headers != "" {
		text += " and with " + headers
	}
	return text
}

// usual are headers that the story does not mention.
var usual = append([]string{"Content-Type", "Accept", "User-Agent"}, credentials...)

// otherHeaders returns the unusual headers of a request: "the header X-User-Id".
func otherHeaders(m reports.Message) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		isSecret := slices.ContainsFunc(m.Secrets, func(place reports.SecretPlace) bool { return place.Header == name })
		if !isSecret && !slices.Contains(usual, name) {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "the header " + safe.Ellipsis(names[0], 60)
	}
	return safe.Ellipsis("the headers "+and(names), 80)
}
