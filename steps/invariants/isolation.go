package invariants

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// longEnough is the minimum length in bytes of a text that is searched for in other texts. A shorter text may occur by
// chance.
const longEnough = 12

// isolation judges that responses to one user contain nothing of another user (section 5): no IDs of their threads and
// runs, and none of their texts, credentials and identities.
//
// In a recording, only callers with credentials of the configuration are users. Texts of other callers are looked for
// only in responses without credentials, because two of these callers may be the same user.
type isolation struct {
	target  *target.Target
	users   map[string]*belongings // by the key of the user's credentials
	known   []person
	secrets finder[secret]
	texts   finder[*belonging] // IDs and texts of all users
	threads map[string][]*belonging
	leaks   map[int]string // the operation of each exchange with a leak
}

// longInRecording is the minimum length of a text from a recording that is searched for in responses to others. A shorter
// text may be a common phrase.
const longInRecording = 32

// idAt is an ID at an agent server. Each server may number its threads from one.
type idAt struct{ base, id string }

// belonging is an ID or a text of a user.
type belonging struct {
	user  string // the key of the credentials
	what  string // "an id" or "a text"
	value string
	base  string // for an ID: the address of the agent server
	on    idAt   // a thread that the user has not created; the ID or text counts only if the run with it was accepted there
	order int    // in which the user's ids, or the user's texts, were noted
}

// belongings has the objects and texts that a user has created or sent.
type belongings struct {
	ids   map[idAt]bool   // IDs of threads, and IDs of runs with at least longEnough bytes, because shorter ones may be equal in each thread
	texts map[string]bool // texts that the user sent, with at least longEnough bytes
	sent  strings.Builder // all request bodies: a user may see what the user has sent
}

// isShownBy reports whether the failure of a scenario is a leak by the same operation.
func (r *isolation) isShownBy(o Other, v outcome.Violation) bool {
	return slices.ContainsFunc(o.Outcome.Violations, func(f outcome.Violation) bool {
		operation, isLeak := r.leaks[f.Exchange]
		return isLeak && operation == v.Operation
	})
}

// credentialsOf is the value in a message about leaked credentials, which must not be shown.
const credentialsOf = "the credentials"

// leaked records that a response shows a value of the user with the key. The violation has the pointer of the first such
// value of the operation.
func (r *isolation) leaked(t *tally, s *seen, what, key, value string) {
	r.leaks[s.ID] = s.Op.ID
	actual := fmt.Sprintf("%s of %s in a response to %s", what, key, s.Caller.Name)
	if what != credentialsOf {
		actual += ": " + value
	}
	response := s.response
	if !s.Whole && spec.Bounded([]byte(s.Response)) { // the values before the end of the recorded part
		response = gjson.Parse(s.Response)
	}
	pointer := anyIndex.ReplaceAllString(evidence.PointerTo(response, value), "/*")
	t.violated(s, outcome.Leak, pointer, s.Op.Request()+" shows "+what+" of another user",
		"nothing of another user", actual)
}

// anyIndex matches the indices in a JSON pointer. Leaks in different items of an array have the same pointer.
var anyIndex = regexp.MustCompile(`/\d+`)

// belongingsOf returns the belongings of the user with the key.
func (r *isolation) belongingsOf(key string) *belongings {
	if r.users[key] == nil {
		r.users[key] = &belongings{ids: map[idAt]bool{}, texts: map[string]bool{}}
	}
	return r.users[key]
}

func (r *isolation) note(s *seen) {
	if !s.isUser() && !isOtherCaller(s.Caller.Name) {
		return
	}
	b := r.belongingsOf(s.Caller.Name)
	if s.isUser() {
		b.sent.WriteString(s.Request)
		b.sent.WriteByte('\n')
	}
	if !s.ok() {
		return
	}
	switch {
	case s.Op.ID == "create-thread", !s.ofInterface() && s.Method == "POST": // such as a copy of a thread
		r.noteID(s, b, "thread_id", idAt{})
		r.noteID(s, b, "run_id", idAt{})
	case s.Op.ID == "create-run":
		on := idAt{s.Base, s.In("thread_id")}
		if b.ids[on] {
			on = idAt{}
		}
		r.noteID(s, b, "run_id", on)
		shortest := longEnough
		if isOtherGraph(r.target, s) {
			shortest = longInRecording
		}
		for _, m := range s.request.Get("input.messages").Array() {
			if text := m.Get("content").Str; len(text) >= shortest && !b.texts[text] {
				b.texts[text] = true
				r.texts.addAsJSON(text, &belonging{user: s.Caller.Name, what: "a text", value: text, on: on, order: len(b.texts)})
			}
		}
	}
}

// isOtherCaller reports whether a caller of a recording has credentials that are not in the configuration.
func isOtherCaller(name string) bool { return strings.HasPrefix(name, target.OtherCaller) }

// noteID notes the ID in a field of a response. It ignores empty IDs, and short ones unless they are of threads.
func (r *isolation) noteID(s *seen, b *belongings, field string, on idAt) {
	value := s.response.Get(field)
	if value.Type != gjson.String && value.Type != gjson.Number {
		return
	}
	at := idAt{s.Base, value.String()}
	isUsable := len(at.id) >= longEnough || at.id != "" && field == "thread_id"
	if !isUsable || b.ids[at] {
		return
	}
	b.ids[at] = true
	noted := &belonging{user: s.Caller.Name, what: "an id", value: at.id, base: at.base, on: on, order: len(b.ids)}
	if len(at.id) < longEnough {
		r.threads[at.id] = append(r.threads[at.id], noted)
	} else {
		r.texts.add(at.id, noted)
	}
}

// asJSON returns a text in the spelling of JSON, without the quotes.
func asJSON(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted[1 : len(quoted)-1])
}

func (r *isolation) check(t *tally, s *seen) {
	if !s.Caller.Invalid && !s.isUser() { // such as a studio user, who may see everything
		return
	}
	if s.Caller.Invalid && s.ok() { // the invariant closed judges such a response
		return
	}
	if r.target.Recorded && s.Op.ID == "" { // it may be public
		return
	}
	r.checkPersons(t, s)
	own := r.users[s.Caller.Name]
	for key := range r.users {
		if r.isJudged(s, key) {
			t.judged++
		}
	}
	for _, of := range r.shownIn(s) {
		isOwn := of.what == "an id" && (of.base != s.Base || own != nil && own.ids[idAt{of.base, of.value}])
		// The other user's run was accepted on the caller's thread. The scenario that sent the run judges that (AS-AUTHZ-2).
		isIntrusion := !r.target.Recorded && own != nil && own.ids[of.on]
		if !r.isJudged(s, of.user) || isOwn || isIntrusion {
			continue
		}
		hasSent := r.hasSent(s, of.value)
		if len(of.value) < longEnough {
			hasSent = requestContains(s, of.value)
		}
		if !hasSent {
			r.leaked(t, s, of.what, of.user, of.value)
		}
	}
}

// isJudged reports whether a response must not show anything of the user with the key.
func (r *isolation) isJudged(s *seen, key string) bool {
	return key != s.Caller.Name && (s.Caller.Invalid || !isOtherCaller(key))
}

// shownIn returns the belongings that a response shows, ordered by user: first the IDs, then the texts.
func (r *isolation) shownIn(s *seen) []*belonging {
	shown := r.texts.in(s.Response)
	if len(r.threads) > 0 {
		for _, id := range valuesAt(s.response, func(key string) bool { return key == "thread_id" }) {
			shown = append(shown, r.threads[id]...)
		}
	}
	slices.SortFunc(shown, func(a, b *belonging) int {
		return cmp.Or(strings.Compare(a.user, b.user), strings.Compare(b.what, a.what), a.order-b.order)
	})
	return slices.Compact(shown)
}

// hasSent reports whether the caller has sent a text, in this request or in another.
func (r *isolation) hasSent(s *seen, text string) bool {
	own := r.users[s.Caller.Name]
	return requestContains(s, text) || own != nil && contains(own.sent.String(), text)
}

// requestContains reports whether the address or the body of a request contains a text. A UUID may be sent in a form
// other than the server's.
func requestContains(s *seen, text string) bool {
	if contains(s.Path, text) || contains(s.Query, text) || contains(s.Request, text) {
		return true
	}
	sent := strings.ToLower(s.Path + s.Query + s.Request)
	return slices.ContainsFunc(exchange.FormsOf(text), func(f exchange.Form) bool {
		return strings.Contains(sent, strings.ToLower(f.ID))
	})
}

// contains reports whether a body contains a text, literally or in the spelling of JSON.
func contains(body, text string) bool {
	return strings.Contains(body, text) || strings.Contains(body, asJSON(text))
}

// valuesAt returns the strings and numbers at the wanted keys of a response, at any depth.
func valuesAt(value gjson.Result, isWanted func(key string) bool) []string {
	var all []string
	for path, item := range exchange.Values(value) {
		if isWanted(path[len(path)-1]) && (item.Type == gjson.String || item.Type == gjson.Number) {
			all = append(all, item.String())
		}
	}
	return all
}

// person is a user of the configuration, with the values that responses may show.
type person struct {
	key         string
	credentials []string // each credential in all spellings that are searched for
	header      string   // all header values that the user sends
	identity    string
	team        string // "" if it is unknown
}

// secret is a spelling of a credential.
type secret struct {
	key   string // key of the person
	at    int    // position in the person's credentials
	value string
}

// newIsolation returns the rule for the users of the configuration.
func newIsolation(t *target.Target) *isolation {
	r := &isolation{target: t, users: map[string]*belongings{}, known: personsOf(t), threads: map[string][]*belonging{}, leaks: map[int]string{}}
	for _, p := range r.known {
		for at, spelling := range p.credentials {
			r.secrets.add(spelling, secret{p.key, at, spelling})
		}
	}
	return r
}

// personsOf returns the users of the configuration, without studio users.
func personsOf(t *target.Target) []person {
	secrets, common := t.Config.Secrets(), t.Config.Common()
	var all []person
	for _, key := range t.UserKeys() {
		c := t.CallerWith(key)
		if c.User == nil { // such as a studio user
			continue
		}
		p := person{key: key, identity: c.User.Identity, team: c.User.Team(), header: fmt.Sprint(c.Header)}
		for secret, name := range secrets {
			isOwn := strings.HasPrefix(name, "$"+config.Variable(key)+"_")
			if isOwn && len(secret) >= longEnough && !slices.Contains(common, secret) {
				p.credentials = append(p.credentials, client.SpellingsOf(secret)...)
			}
		}
		all = append(all, p)
	}
	return all
}

// showsIdentity reports whether servers show the identity of a user at a key. At other keys, a short identity may be an
// ordinary word.
func showsIdentity(key string) bool {
	return slices.Contains([]string{"owner", "identity", "user"}, key) || strings.HasSuffix(key, "user_id")
}

// owns reports whether an object in a response names the person as its owner, in the person's team.
func (p person) owns(object gjson.Result) bool {
	return object.Get("owner").String() == p.identity && object.Get(config.TeamField).String() == p.team
}

// checkPersons judges that a response shows no credentials and no identity of a user other than the caller. For a user
// with the caller's identity, it looks for the identity together with the team.
func (r *isolation) checkPersons(t *tally, s *seen) {
	var own person
	for _, p := range r.known {
		if p.key == s.Caller.Name {
			own = p
		}
	}
	secrets := r.secrets.in(s.Response)
	slices.SortFunc(secrets, func(a, b secret) int { return a.at - b.at })
	var identities []string // identities that were judged, because two users may have the same
	shown := valuesAt(s.response, showsIdentity)
	for _, p := range r.known {
		if p.key == s.Caller.Name {
			continue
		}
		if len(p.credentials) > 0 {
			t.judged++
		}
		isLeaked := func(found secret) bool {
			return found.key == p.key && !requestContains(s, found.value) && !strings.Contains(own.header, found.value)
		}
		at := slices.IndexFunc(secrets, isLeaked)
		if at >= 0 {
			r.leaked(t, s, credentialsOf, p.key, secrets[at].value)
		}
		if p.identity == "" || slices.Contains(identities, p.identity) {
			continue
		}
		if p.identity == own.identity {
			r.checkTeam(t, s, p, own)
			continue
		}
		identities = append(identities, p.identity)
		isShown := len(p.identity) >= longEnough && strings.Contains(s.Response, p.identity) && r.knowsTexts(s)
		if (isShown || slices.Contains(shown, p.identity)) && !r.hasSent(s, p.identity) {
			r.leaked(t, s, "the identity", p.key, p.identity)
		}
	}
}

// knowsTexts reports whether the record has all texts that the caller has sent to the thread of a request. Users may
// write the mail addresses of others, perhaps before a recording began.
func (r *isolation) knowsTexts(s *seen) bool {
	own := r.users[s.Caller.Name]
	return !r.target.Recorded || own != nil && own.ids[idAt{s.Base, s.In("thread_id")}]
}

// checkTeam judges that a response to a user shows nothing that belongs to a person with the same identity in another
// team.
func (r *isolation) checkTeam(t *tally, s *seen, p, own person) {
	if p.team == "" || p.team == own.team {
		return
	}
	for _, object := range exchange.Values(s.response) {
		if object.IsObject() && p.owns(object) {
			r.leaked(t, s, "the owner and team", p.key, p.team)
		}
	}
}
