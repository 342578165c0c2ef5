package invariants

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// longEnough is how many bytes a text must have to be looked for within others. What is shorter may stand there by
// chance.
const longEnough = 12

// isolation holds answers to one user free of what belongs to another (section 5): the ids of their threads and runs,
// their texts, their credentials and identity.
type isolation struct {
	users map[string]*belongings // by the key of their credentials
	known []person
	leaks map[int]string // the operation of each exchange that holds what belongs to another user
}

// idAt is an id at an agent server: each may number its threads from one.
type idAt struct{ base, id string }

// belongings are what a user has created or sent.
type belongings struct {
	ids       map[idAt]bool     // of threads, and of runs if longEnough: others may repeat in each thread
	idOrder   []idAt            // in the order in which they were noted
	texts     map[string]string // that the user sent, at least longEnough, and as JSON writes them
	textOrder []string          // in the order in which they were sent
	sent      strings.Builder   // all request bodies: what a user has sent, the user may see
}

// isTold tells whether what a scenario has found is a leak by the same operation, told as what it is.
func (r *isolation) isTold(o Other, v outcome.Violation) bool {
	isSame := func(f outcome.Violation) bool {
		operation, leaked := r.leaks[f.Exchange]
		return leaked && operation == v.Operation
	}
	return slices.ContainsFunc(o.Outcome.Violations, isSame)
}

// credentialsOf are named by their user: their value is a secret.
const credentialsOf = "the credentials"

// leaked keeps a violation: a value that belongs to the user with the key. One of each kind and operation has the place
// of the first.
func (r *isolation) leaked(t *tally, s *seen, what, key, value string) {
	r.leaks[s.ID] = s.Op.ID
	actual := fmt.Sprintf("%s of %s in a response to %s", what, key, s.Caller.Name)
	if what != credentialsOf {
		actual += ": " + value
	}
	place := anyIndex.ReplaceAllString(evidence.PointerTo(s.answer, value), "/*")
	t.violated(s, outcome.Leak, place, "A response to one caller shows "+what+" of another user",
		"nothing of another user", actual)
}

// anyIndex finds the indices in a JSON pointer: a leak has one place, whichever item of an array it is in.
var anyIndex = regexp.MustCompile(`/\d+`)

func (r *isolation) of(key string) *belongings {
	if r.users[key] == nil {
		r.users[key] = &belongings{ids: map[idAt]bool{}, texts: map[string]string{}}
	}
	return r.users[key]
}

func (r *isolation) note(s *seen) {
	if !s.isUser() {
		return
	}
	b := r.of(s.Caller.Name)
	b.sent.WriteString(s.Request)
	b.sent.WriteByte('\n')
	if !s.ok() {
		return
	}
	switch {
	case s.Op.ID == "create-thread", !s.ofInterface() && s.Method == "POST": // such as a copy of a thread
		b.owns(s, "thread_id")
		b.owns(s, "run_id")
	case s.Op.ID == "create-run":
		b.owns(s, "run_id")
		for _, m := range s.request.Get("input.messages").Array() {
			if text := m.Get("content").Str; len(text) >= longEnough {
				if b.texts[text] == "" {
					b.textOrder = append(b.textOrder, text)
				}
				b.texts[text] = written(text)
			}
		}
	}
}

// owns notes an id in an answer. An empty one names nothing.
func (b *belongings) owns(s *seen, field string) {
	switch id := s.answer.Get(field); {
	case id.Type != gjson.String && id.Type != gjson.Number:
	case len(id.String()) >= longEnough, id.String() != "" && field == "thread_id":
		at := idAt{s.Base, id.String()}
		if !b.ids[at] {
			b.ids[at] = true
			b.idOrder = append(b.idOrder, at)
		}
	}
}

// written is a text as JSON writes it, without the quotes.
func written(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted[1 : len(quoted)-1])
}

func (r *isolation) check(t *tally, s *seen) {
	switch {
	case !s.Caller.Invalid && !s.isUser(): // such as a studio user, who may see everything
		return
	case s.Caller.Invalid && s.ok(): // that it was served at all is another invariant's concern
		return
	}
	r.checkPersons(t, s)
	own := r.users[s.Caller.Name]
	if own == nil {
		own = &belongings{}
	}
	threads := valuesAt(s.answer, func(key string) bool { return key == "thread_id" })
	for _, key := range slices.Sorted(maps.Keys(r.users)) {
		if key == s.Caller.Name {
			continue
		}
		other := r.users[key]
		t.judged++
		for _, at := range other.idOrder {
			shown := slices.Contains(threads, at.id) && !carries(s, at.id)
			if len(at.id) >= longEnough {
				shown = strings.Contains(s.Answer, at.id) && !r.knows(s, at.id)
			}
			if shown && at.base == s.Base && !own.ids[at] {
				r.leaked(t, s, "an id", key, at.id)
			}
		}
		for _, text := range other.textOrder {
			isShown := strings.Contains(s.Answer, text) || strings.Contains(s.Answer, other.texts[text])
			if isShown && !r.knows(s, text) {
				r.leaked(t, s, "a text", key, text)
			}
		}
	}
}

// knows tells whether the caller has sent the text, in this request or in any other.
func (r *isolation) knows(s *seen, what string) bool {
	own := r.users[s.Caller.Name]
	return carries(s, what) || own != nil && holds(own.sent.String(), what)
}

// carries tells whether a request holds the text in its address or its body.
func carries(s *seen, what string) bool {
	return holds(s.Path, what) || holds(s.Query, what) || holds(s.Request, what)
}

// holds tells whether a text has another one in it, as it is or as JSON writes it.
func holds(text, what string) bool {
	return strings.Contains(text, what) || strings.Contains(text, written(what))
}

// valuesAt are the strings and numbers at some keys of an answer, at any depth.
func valuesAt(value gjson.Result, wanted func(key string) bool) (all []string) {
	for way, item := range exchange.Values(value) {
		if wanted(way[len(way)-1]) && (item.Type == gjson.String || item.Type == gjson.Number) {
			all = append(all, item.String())
		}
	}
	return all
}

// person is a user of the configuration as answers may show one.
type person struct {
	key         string
	credentials []string // in each spelling in which a secret is found
	header      string   // all values that the user sends
	identity    string
}

func personsOf(t *target.Target) (all []person) {
	secrets, common := t.Config.Secrets(), t.Config.Common()
	for _, key := range t.UserKeys() {
		c := t.CallerWith(key)
		if c.User == nil {
			continue // such as a studio user
		}
		p := person{key: key, identity: c.User.Identity, header: fmt.Sprint(c.Header)}
		for secret, name := range secrets {
			own := strings.HasPrefix(name, "$"+config.Variable(key)+"_")
			if own && len(secret) >= longEnough && !slices.Contains(common, secret) { // a shorter one may stand there by chance
				p.credentials = append(p.credentials, client.SpellingsOf(secret)...)
			}
		}
		all = append(all, p)
	}
	return all
}

// showsIdentity tells whether servers show the identity of a user at a key. A short identity may be a word that stands
// elsewhere by chance.
func showsIdentity(key string) bool {
	return slices.Contains([]string{"owner", "identity", "user"}, key) || strings.HasSuffix(key, "user_id")
}

// checkPersons looks for the credentials and the identity of another user than the caller.
func (r *isolation) checkPersons(t *tally, s *seen) {
	body, own := s.Answer, ""
	for _, p := range r.known {
		if p.key == s.Caller.Name {
			own = p.header
		}
	}
	for _, p := range r.known {
		if p.key == s.Caller.Name {
			continue
		}
		t.judged += min(len(p.credentials), 1)
		for _, secret := range p.credentials {
			if strings.Contains(body, secret) && !carries(s, secret) && !strings.Contains(own, secret) {
				r.leaked(t, s, credentialsOf, p.key, secret)
				break
			}
		}
		if p.identity == "" || r.knows(s, p.identity) {
			continue
		}
		shown := len(p.identity) >= longEnough && strings.Contains(body, p.identity)
		for _, value := range valuesAt(s.answer, showsIdentity) {
			shown = shown || value == p.identity
		}
		if shown {
			r.leaked(t, s, "the identity", p.key, p.identity)
		}
	}
}
