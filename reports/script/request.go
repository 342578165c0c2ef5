package script

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

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
	for _, name := range slices.Sorted(maps.Keys(x.Request.Headers)) {
		for _, value := range x.Request.Headers[name] {
			header := safe.ShellWord(name + ": " + value)
			switch {
			case !headerNames.MatchString(name) || strings.ContainsAny(value, "\r\n\x00"):
				return "", fmt.Errorf("exchange %d has an unusual header", x.ID)
			case value == "": // "Name:" would make curl leave the header out
				header = safe.ShellWord(name + ";")
			case slices.Contains(x.Request.Secrets, reports.SecretPlace{Header: name}):
				header = literal(name+": ") + s.expanding(value, `"%s"`)
			}
			words = append(words, "-H", header)
		}
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
			return literal("agentconform-") + `"$run"` + literal("-"+rest)
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
			shell += literal(text[at:part[0]]) + with
			at = part[1]
		}
	}
	return shell + literal(text[at:])
}

// literal quotes a part of a word.
func literal(text string) string {
	if text == "" {
		return ""
	}
	return safe.ShellWord(text)
}

// patience is for how many seconds curl waits for the answer. Where there was none after some time, it waits no
// longer than the suite did: a later answer would be none in time either.
func patience(x *step) int {
	if seconds := int(x.MS+500) / 1000; x.Status == 0 && seconds > 0 {
		return seconds
	}
	return 30 + int(x.MS)/500
}
