package invariants

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/target"
)

// person is a user of the configuration as answers may show one.
type person struct {
	key         string
	credentials []string // as they are recorded: by the names of their variables
	identity    string
}

func personsOf(t *target.Target) (all []person) {
	for _, key := range t.UserKeys() {
		c := t.CallerWith(key)
		if c.User == nil {
			continue // such as a studio user
		}
		p := person{key: key, identity: c.User.Identity}
		for _, values := range c.User.Headers {
			p.credentials = append(p.credentials, recorded(t, values)...)
		}
		p.credentials = append(p.credentials, recorded(t, string(c.User.Token))...)
		all = append(all, p)
	}
	return all
}

// recorded is a secret as the record shows it; nothing where it is too short to be found there.
func recorded(t *target.Target, secret string) []string {
	if name := t.Redact.Record(secret); len(secret) >= longEnough && name != secret {
		return []string{name}
	}
	return nil
}

// showsIdentity tells whether the field's servers show the identity of a user at a key. A short identity may be a word that stands
// elsewhere by chance.
func showsIdentity(key string) bool {
	return slices.Contains([]string{"owner", "identity", "user", "user_id"}, key) || strings.HasSuffix(key, "auth_user_id")
}

// checkPersons looks for the credentials and the identity of another user than the caller.
func (r *isolation) checkPersons(s *seen) {
	body := s.exchange.Response.Body
	for _, p := range r.known {
		if p.key == s.caller.name {
			continue
		}
		for _, name := range p.credentials {
			r.judged++
			if strings.Contains(body, name) && !carries(s, name) {
				r.leaked(s, credentialsOf, p.key, name)
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
