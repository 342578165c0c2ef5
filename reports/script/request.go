package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
)

var (
	// shellPart is a part of a line for a shell: in single quotes, after a backslash, in double quotes, or bare.
	shellPart = regexp.MustCompile(`'[^']*'|\\.|"[^"]*"|[^'"\\]+`)
	variables = regexp.MustCompile(`AGENTCONFORM_[A-Z0-9_]+`)
)

// request returns the arguments of curl that send the request of a step: those of the recorded line, which has all text
// of the target in single quotes, with the ids of earlier answers in place of the recorded ones, and the secrets of a
// body as JSON.
func (s *script) request(x *step) (string, error) {
	line, recorded := strings.CutPrefix(x.Curl, "curl -sS -i ")
	switch {
	case s.result.Target.Below(x.URL) == "":
		return "", fmt.Errorf("exchange %d was sent to an address that is not one of the target", x.ID)
	case !recorded || x.Request.FullSize() > len(x.Request.Body):
		return "", fmt.Errorf("the request of exchange %d was not recorded whole", x.ID)
	case strings.ContainsRune(line, 0):
		return "", fmt.Errorf("the request of exchange %d holds a NUL character", x.ID)
	}
	body := false
	line = shellPart.ReplaceAllStringFunc(line, func(part string) string {
		switch name := variables.FindString(part); {
		case part[0] == '\'':
			return tokens.ReplaceAllStringFunc(part, func(token string) string { return s.withID(x, token) })
		case part[0] == '"' && name != "":
			s.secrets[name] = true
			if body {
				return `"$(json ` + part + `)"`
			}
		}
		body = body || strings.HasSuffix(part, " --data-raw ")
		return part
	})
	return fmt.Sprintf("--max-time %d %s", patience(x), line), nil
}

// withID is a part of a quoted text: in place of the id of an earlier answer the variable that has it, and of the id of
// the run in the names of what it created a new one, because a target may allow each name once.
func (s *script) withID(x *step, token string) string {
	if v := s.ids[token]; v != nil && slices.Contains(x.uses, v) {
		return `'"$` + v.name + `"'`
	}
	if rest, ours := strings.CutPrefix(token, "agentconform-"+s.result.Run.ID+"-"); ours && s.result.Run.ID != "" {
		return `agentconform-'"$run"'-` + rest
	}
	return token
}

// patience is for how many seconds curl waits for the answer. Where there was none after some time, it waits no
// longer than the suite did: a later answer would be none in time either.
func patience(x *step) int {
	if seconds := int(x.MS+500) / 1000; x.Status == 0 && seconds > 0 {
		return seconds
	}
	return 30 + int(x.MS)/500
}

// pair is a text or a number of a JSON text with the key under which it stands, as value in prelude.sh finds it too.
type pair struct {
	key, value string
	nth        int // among those with the key, from 1
}

var (
	pairs = regexp.MustCompile(`"([A-Za-z0-9_]+)"[ \t\f\v\r]*:[ \t\f\v\r]*(?:"([^"\\\n]*)"|(-?[0-9]+))`)
	// tokens are the parts of an address or a body that may be ids: the host, which no answer decides, is none of its
	// own.
	tokens = regexp.MustCompile(`(?i:https?)://[^/?#']*|[^/?&=#"'\\\s]+`)
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
		for _, token := range tokens.FindAllString(each.URL+"\n"+each.Request.Body, -1) {
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
			if isID && p.value != "" && !strings.Contains(p.value, "://") && !sent[p.value] && s.ids[p.value] == nil {
				s.ids[p.value] = &id{pair: p, from: each}
			}
		}
	}
}
