package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
)

var (
	// shellPart is a part of a shell command line: in single quotes, after a backslash, in double quotes, or bare.
	shellPart = regexp.MustCompile(`'[^']*'|\\.|"[^"]*"|[^'"\\]+`)
	variable  = regexp.MustCompile(`AGENTCONFORM_[A-Z0-9_]+`)
)

// request returns the arguments of curl for a step. They are those of the recorded curl line with two changes: variables
// replace the ids that earlier responses contain, and the secrets of a body are written as JSON.
func (s *script) request(x *step) (string, error) {
	line, recorded := strings.CutPrefix(x.Curl, "curl -sS -i ")
	switch {
	case s.result.Target.PathOf(x.URL) == "":
		return "", fmt.Errorf("exchange %d was not sent to an address of the target", x.ID)
	case !recorded || x.Request.FullSize() > len(x.Request.Body):
		return "", fmt.Errorf("the request of exchange %d was not recorded completely", x.ID)
	case strings.ContainsRune(line, 0):
		return "", fmt.Errorf("the request of exchange %d contains a NUL character", x.ID)
	}
	inBody := false
	line = shellPart.ReplaceAllStringFunc(line, func(part string) string {
		if part[0] == '\'' {
			return token.ReplaceAllStringFunc(part, func(text string) string { return s.replaceID(x, text) })
		}
		if name := variable.FindString(part); part[0] == '"' && name != "" {
			s.secrets[name] = true
			if inBody {
				return `"$(json ` + part + `)"`
			}
		}
		if strings.HasSuffix(part, " --data-raw ") {
			inBody = true
		}
		return part
	})
	return fmt.Sprintf("--max-time %d %s", patience(x), line), nil
}

// replaceID replaces a token of a text in single quotes: the id of an earlier response by its variable, and the id of
// the test run in names of created objects by a new one, because a target may allow each name only once.
func (s *script) replaceID(x *step, text string) string {
	for _, v := range x.uses {
		if v.value == text {
			return `'"$` + v.variable + `"'`
		}
	}
	run := s.result.Run.ID
	if rest, created := strings.CutPrefix(text, "agentconform-"+run+"-"); created && run != "" {
		return `agentconform-'"$run"'-` + rest
	}
	return text
}

// patience returns for how many seconds curl waits for the response. If the recorded request timed out, curl waits no
// longer than the suite did.
func patience(x *step) int {
	seconds := int(x.MS+500) / 1000
	if x.Status == 0 && seconds > 0 {
		return seconds
	}
	return 30 + int(x.MS)/500
}

// pair is a string or number in a JSON text, with its key. The function value of prelude.sh finds the same pairs.
type pair struct {
	key, value string
	nth        int // position among the pairs with this key, from 1
}

var (
	jsonPair = regexp.MustCompile(`"([A-Za-z0-9_]+)"[ \t\f\v\r]*:[ \t\f\v\r]*(?:"([^"\\\n]*)"|(-?[0-9]+))`)
	// token is a part of an address or body that may be an id. The scheme and host are one token.
	token = regexp.MustCompile(`(?i:https?)://[^/?#']*|[^/?&=#"'\\\s]+`)
)

func pairs(body string) []pair {
	var all []pair
	counts := map[string]int{}
	for _, m := range jsonPair.FindAllStringSubmatch(body, -1) {
		counts[m[1]]++
		all = append(all, pair{m[1], m[2] + m[3], counts[m[1]]})
	}
	return all
}

// isID reports whether the value looks like an id.
func (p pair) isID() bool {
	named := p.key == "id" || strings.HasSuffix(p.key, "_id") || uuid.Validate(p.value) == nil
	return named && p.value != "" && !strings.Contains(p.value, "://")
}

// id is an id that a response contains before any request does.
type id struct {
	pair
	variable string // of the script; empty if no later request uses the id
	from     *step
	taken    bool // the script has set the variable
}

// findIDs finds the ids that steps use and the steps whose responses contain them.
func (s *script) findIDs() {
	known := map[string]*id{} // by value
	sent := map[string]bool{} // tokens of requests that are not known ids
	variables := 0
	for _, each := range s.steps {
		for _, text := range token.FindAllString(each.URL+"\n"+each.Request.Body, -1) {
			v := known[text]
			if v == nil {
				sent[text] = true
				continue
			}
			if v.variable == "" {
				variables++
				v.variable = fmt.Sprintf("id%d", variables)
				v.from.gives = append(v.from.gives, v)
			}
			if !slices.Contains(each.uses, v) {
				each.uses = append(each.uses, v)
			}
		}
		for _, p := range pairs(each.Response.Body) {
			if p.isID() && !sent[p.value] && known[p.value] == nil {
				known[p.value] = &id{pair: p, from: each}
			}
		}
	}
}
