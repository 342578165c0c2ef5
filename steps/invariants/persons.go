package invariants

import (
	"maps"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/target"
)

// person is a user of the configuration as answers may show one.
type person struct {
	key         string
	credentials []string
	identity    string
}

func personsOf(t *target.Target) (all []person) {
	for _, key := range t.UserKeys() {
		c := t.CallerWith(key)
		if c.User == nil {
			continue // such as a studio user
		}
		p := person{key: key, identity: c.User.Identity}
		for _, secret := range append(slices.Collect(maps.Values(c.User.Headers)), string(c.User.Token)) {
			if len(secret) >= longEnough { // a shorter one may stand there by chance
				p.credentials = append(p.credentials, secret)
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
func (r *isolation) checkPersons(s *seen) {
	body := s.Answer
	for _, p := range r.known {
		if p.key == s.Caller.Name {
			continue
		}
		for _, secret := range p.credentials {
			r.judged++
			if (strings.Contains(body, secret) || strings.Contains(body, written(secret))) && !carries(s, secret) {
				r.leaked(s, credentialsOf, p.key, secret)
			}
		}
		if p.identity == "" || r.knows(s, p.identity) {
			continue
		}
		shown := len(p.identity) >= longEnough && strings.Contains(body, p.identity)
		for value := range valuesAt(s.answer, showsIdentity) {
			shown = shown || value == p.identity
		}
		if shown {
			r.leaked(s, "the identity", p.key, p.identity)
		}
	}
}
