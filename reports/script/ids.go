package script

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/reports"
)

// pair is a text or a number of a JSON text with the key under which it stands, as value in prelude.sh finds it too.
type pair struct {
	key, value string
	nth        int // among those with the key, from 1
}

var (
	pairs = regexp.MustCompile(`"([A-Za-z0-9_]+)"[ \t\f\v\r]*:[ \t\f\v\r]*(?:"([^"\\\n]*)"|(-?[0-9]+))`)
	// tokens are the parts of an address or a body that may be ids.
	tokens = regexp.MustCompile(`[^/?&=#"\\\s]+`)
)

func pairsOf(body string) (all []pair) {
	counts := map[string]int{}
	for _, m := range pairs.FindAllStringSubmatch(body, -1) {
		counts[m[1]]++
		all = append(all, pair{m[1], m[2] + m[3], counts[m[1]]})
	}
	return all
}

// id is one that an answer gave; a variable of the script if later requests use it.
type id struct {
	pair
	name  string // of the variable
	from  *step
	taken bool
}

func (s *script) findIDs() {
	sent, named := map[string]bool{}, 0
	for _, each := range s.steps {
		_, path := reports.AuthoritySpan(each.URL)
		for _, token := range tokens.FindAllString(each.URL[path:]+"\n"+each.Request.Body, -1) {
			v := s.ids[token]
			if v == nil {
				sent[token] = true
				continue
			}
			if v.name == "" {
				named++
				v.name = fmt.Sprintf("id%d", named)
				v.from.gives = append(v.from.gives, v)
			}
			each.uses = append(each.uses, v)
		}
		for _, p := range pairsOf(each.Response.Body) {
			isID := p.key == "id" || strings.HasSuffix(p.key, "_id") || uuid.Validate(p.value) == nil
			if isID && p.value != "" && !sent[p.value] && s.ids[p.value] == nil {
				s.ids[p.value] = &id{pair: p, from: each}
			}
		}
	}
}
