package invariants

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/target"
)

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
func (r *isolation) checkPersons(s *seen) {
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
		r.judged += min(len(p.credentials), 1)
		for _, secret := range p.credentials {
			if strings.Contains(body, secret) && !carries(s, secret) && !strings.Contains(own, secret) {
				r.leaked(s, credentialsOf, p.key, secret)
				break
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
