package script

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

var (
	methods     = regexp.MustCompile(`^[A-Z]{1,20}$`)
	headerNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`) // never "@file"
	secretNames = regexp.MustCompile(`\$AGENTCONFORM_[A-Z0-9_]+|\$\{AGENTCONFORM_[A-Z0-9_]+(?:~~|%\?)?\}`)
	variables   = regexp.MustCompile(`AGENTCONFORM_[A-Z0-9_]+`)
)

// request returns the arguments of curl that send the request of a step.
func (s *script) request(x *step) (string, error) {
	switch {
	case !s.isTarget(x.URL):
		return "", fmt.Errorf("exchange %d was sent to an address that is not one of the target", x.ID)
	case !methods.MatchString(x.Method):
		return "", fmt.Errorf("exchange %d has an unusual method", x.ID)
	case x.Request.FullSize() > len(x.Request.Body):
		return "", fmt.Errorf("the body of the request of exchange %d was not recorded whole", x.ID)
	case strings.ContainsRune(x.URL+x.Request.Body, 0):
		return "", fmt.Errorf("the request of exchange %d holds a NUL character", x.ID)
	}
	words := []string{"--max-time", fmt.Sprint(patience(x))}
	via, authority := s.result.Target.Connection.Curl(x.URL)
	words = append(words, via...)
	if x.Method != "GET" {
		words = append(words, "-X", x.Method)
	}
	for _, h := range x.Request.SortedHeaders() {
		name, value := h[0], h[1]
		header := safe.ShellWord(name + ": " + value)
		switch {
		case !headerNames.MatchString(name) || strings.ContainsAny(value, "\r\n\x00"):
			return "", fmt.Errorf("exchange %d has an unusual header", x.ID)
		case value == "": // "Name:" would make curl leave the header out
			header = safe.ShellWord(name + ";")
		case slices.Contains(x.Request.Secrets, reports.SecretPlace{Header: name}):
			header = safe.ShellWord(name+": ") + s.expanding(value, `"%s"`)
		}
		words = append(words, "-H", header)
	}
	if body := x.Request.Body; body != "" {
		quoted, rest := "", 0
		for _, at := range x.Request.SecretSpans() {
			quoted += s.withIDs(x, body[rest:at[0]], 0) + s.expanding(body[at[0]:at[1]], `"$(json "%s")"`)
			rest = at[1]
		}
		words = append(words, "--data-raw", quoted+s.withIDs(x, body[rest:], 0))
	}
	address := reports.WithAuthority(x.URL, authority)
	_, path := reports.AuthoritySpan(address) // no id of an answer decides the host
	return strings.Join(append(words, s.withIDs(x, address, path)), " "), nil
}

// isTarget tells whether an address is below one of the result's own targets.
func (s *script) isTarget(address string) bool {
	for _, base := range []string{s.result.Target.ControlPlane, s.result.Target.AgentServer} {
		u, err := url.Parse(base)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
			u.RawQuery != "" || u.Fragment != "" {
			continue
		}
		if rest, below := strings.CutPrefix(address, strings.TrimSuffix(base, "/")); below && strings.HasPrefix(rest, "/") {
			return true
		}
	}
	return false
}

// expanding quotes a text in which the shell is to expand the names of secrets, each in the given form.
func (s *script) expanding(text, form string) string {
	return quoted(text, 0, secretNames, func(name string) string {
		s.secrets[variables.FindString(name)] = true
		return fmt.Sprintf(form, name)
	})
}

// withIDs quotes a text in which the shell is to expand ids from a place on: those of earlier answers, and the id of
// the run in the names of what it created, because a target may allow each name once.
func (s *script) withIDs(x *step, text string, from int) string {
	return quoted(text, from, tokens, func(token string) string {
		if v := s.ids[token]; v != nil && slices.Contains(x.uses, v) {
			return `"$` + v.name + `"`
		}
		if rest, ours := strings.CutPrefix(token, "agentconform-"+s.result.Run.ID+"-"); ours && s.result.Run.ID != "" {
			return safe.ShellWord("agentconform-") + `"$run"` + safe.ShellWord("-"+rest)
		}
		return ""
	})
}

// quoted quotes a text for the shell but for those of its parts, from a place on, that the shell gets something else
// for.
func quoted(text string, from int, parts *regexp.Regexp, instead func(part string) string) string {
	shell, at := "", 0
	for _, part := range parts.FindAllStringIndex(text, -1) {
		if part[0] < from {
			continue
		}
		if with := instead(text[part[0]:part[1]]); with != "" {
			shell += safe.ShellWord(text[at:part[0]]) + with
			at = part[1]
		}
	}
	return shell + safe.ShellWord(text[at:])
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
