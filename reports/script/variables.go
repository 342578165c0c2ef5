package script

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/reports"
)

// pair is a text or a number of a JSON text with the key under which it stands, as values in prelude.sh finds it too.
type pair struct {
	key, value string
	nth        int // among those with the key, from 1
}

var pairs = regexp.MustCompile(`"([A-Za-z0-9_]+)"[ \t\f\v\r]*:[ \t\f\v\r]*(?:"([^"\\\n]*)"|(-?[0-9]+))`)

func pairsOf(body string) []pair {
	counts := map[string]int{}
	var all []pair
	for _, m := range pairs.FindAllStringSubmatch(body, -1) {
		counts[m[1]]++
		all = append(all, pair{m[1], m[2] + m[3], counts[m[1]]})
	}
	return all
}

// isID tells whether a pair looks like an id that a later request may use.
func (p pair) isID() bool {
	return p.value != "" && (p.key == "id" || strings.HasSuffix(p.key, "_id") || uuid.Validate(p.value) == nil)
}

// variable is an id that an answer gave and later requests use.
type variable struct {
	pair
	name  string
	from  int // the exchange
	taken bool
}

// variables are the ids of a chain: those that an answer gave before any request held them.
type variables struct {
	all    []*variable
	values map[string]*variable
	used   map[int][]*variable // by exchange
}

func variablesOf(p *plan) *variables {
	v := &variables{values: map[string]*variable{}, used: map[int][]*variable{}}
	sent := map[string]bool{}
	for _, s := range p.steps {
		for _, t := range tokensOf(s.wanted) {
			if known := v.values[t.value]; known != nil {
				v.use(s.wanted, known)
			} else {
				sent[t.value] = true
			}
		}
		for _, found := range pairsOf(s.wanted.Response.Body) {
			if found.isID() && !sent[found.value] && v.values[found.value] == nil {
				v.values[found.value] = &variable{pair: found, from: s.wanted.ID}
			}
		}
	}
	return v
}

func (v *variables) use(x reports.Exchange, known *variable) {
	if known.name == "" {
		v.all = append(v.all, known)
		known.name = fmt.Sprintf("id%d", len(v.all))
	}
	v.used[x.ID] = append(v.used[x.ID], known)
}

func (v *variables) usedBy(s *step) []*variable { return v.used[s.wanted.ID] }

// takenFrom are the ids that are taken from the answer of an exchange.
func (v *variables) takenFrom(id int) (found []*variable) {
	for _, each := range v.all {
		if each.from == id {
			found = append(found, each)
		}
	}
	return found
}
