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

// token is a part of a request that may be an id: a segment of the path, a value of the query, a text in the body.
type token struct {
	value      string
	start, end int // in the URL or in the body
	inBody     bool
}

var (
	bodyTexts = regexp.MustCompile(`"([^"\\\n]+)"`)
	urlParts  = regexp.MustCompile(`[^/?&=#]+`)
)

// tokensOf finds the tokens of a request. The URL's scheme and host are none.
func tokensOf(x reports.Exchange) (all []token) {
	_, rest, _ := strings.Cut(x.URL, "://")
	host := len(x.URL) - len(rest) + max(strings.IndexByte(rest, '/'), 0)
	for _, at := range urlParts.FindAllStringIndex(x.URL[host:], -1) {
		start, end := host+at[0], host+at[1]
		if value, err := url.PathUnescape(x.URL[start:end]); err == nil && value == x.URL[start:end] { // an id that needs escaping stays as it is
			all = append(all, token{value, start, end, false})
		}
	}
	for _, at := range bodyTexts.FindAllStringSubmatchIndex(x.Request.Body, -1) {
		all = append(all, token{x.Request.Body[at[2]:at[3]], at[2], at[3], true})
	}
	return all
}

// quote makes one word of a text for the shell, in which nothing is expanded.
func quote(s string) string { return safe.ShellWord(s) }

var (
	methods     = regexp.MustCompile(`^[A-Z]{1,20}$`)
	headerNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`) // never "@file"
	secretNames = regexp.MustCompile(`\$AGENTCONFORM_[A-Z0-9_]+|\$\{AGENTCONFORM_[A-Z0-9_]+(?:~~|%\?)?\}`)
	runIDs      = regexp.MustCompile(`^[A-Za-z0-9-]{1,40}$`)
)

// request returns the arguments of curl that send the request of an exchange, and the ids in it.
func (p *plan) request(x reports.Exchange) (arguments string, uses []*variable, err error) {
	switch {
	case !p.isTarget(x.URL):
		return "", nil, fmt.Errorf("exchange %d was sent to an address that is not one of the target", x.ID)
	case !methods.MatchString(x.Method):
		return "", nil, fmt.Errorf("exchange %d has an unusual method", x.ID)
	case x.Request.FullSize() > len(x.Request.Body):
		return "", nil, fmt.Errorf("the body of the request of exchange %d was not recorded whole", x.ID)
	case strings.ContainsRune(x.URL+x.Request.Body, 0):
		return "", nil, fmt.Errorf("the request of exchange %d holds a NUL character", x.ID)
	}
	words := []string{"--max-time", fmt.Sprint(patience(x))}
	via, authority := p.result.Target.Connection.Curl(x.URL)
	words = append(words, via...)
	if x.Method != "GET" {
		words = append(words, "-X", x.Method)
	}
	for _, name := range slices.Sorted(maps.Keys(x.Request.Headers)) {
		for _, value := range x.Request.Headers[name] {
			if !headerNames.MatchString(name) || strings.ContainsAny(value, "\r\n\x00") {
				return "", nil, fmt.Errorf("exchange %d has an unusual header", x.ID)
			}
			words = append(words, "-H", header(x.Request, name, value))
		}
	}
	var inURL, inBody []replacement
	if start, end := reports.AuthoritySpan(x.URL); authority != "" {
		inURL = append(inURL, replacement{start, end, quote(authority)})
	}
	for _, t := range tokensOf(x) {
		v := p.variables.values[t.value]
		if v == nil || v.name == "" || v.from == x.ID || !slices.Contains(p.variables.used[x.ID], v) {
			continue
		}
		uses = append(uses, v)
		if t.inBody {
			inBody = append(inBody, replacement{t.start, t.end, `"$` + v.name + `"`})
		} else {
			inURL = append(inURL, replacement{t.start, t.end, `"$` + v.name + `"`})
		}
	}
	if x.Request.Body != "" {
		for _, at := range x.Request.SecretSpans() {
			inBody = append(inBody, replacement{at[0], at[1], expanding(x.Request.Body[at[0]:at[1]], `"$(json "%s")"`)})
		}
		words = append(words, "--data-raw", replaced(x.Request.Body, append(inBody, p.runID(x.Request.Body)...)))
	}
	return strings.Join(append(words, replaced(x.URL, append(inURL, p.runID(x.URL)...))), " "), uses, nil
}

// isTarget tells whether an address is below one of the result's own targets.
func (p *plan) isTarget(address string) bool {
	for _, base := range []string{p.result.Target.ControlPlane, p.result.Target.AgentServer} {
		u, err := url.Parse(base)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			continue
		}
		if rest, below := strings.CutPrefix(address, strings.TrimSuffix(base, "/")); below && strings.HasPrefix(rest, "/") {
			return true
		}
	}
	return false
}

func header(m reports.Message, name, value string) string {
	switch {
	case value == "": // "Name:" would make curl leave the header out
		return quote(name + ";")
	case slices.Contains(m.Secrets, reports.SecretPlace{Header: name}):
		return quote(name+": ") + expanding(value, `"%s"`)
	}
	return quote(name + ": " + value)
}

// expanding quotes a text in which the shell is to expand the names of secrets, each in the given form.
func expanding(s, form string) string {
	var all []replacement
	for _, at := range secretNames.FindAllStringIndex(s, -1) {
		all = append(all, replacement{at[0], at[1], fmt.Sprintf(form, s[at[0]:at[1]])})
	}
	return replaced(s, all)
}

// runID finds the id of the run in the names of what it created, to be replaced: a target may allow each name once.
func (p *plan) runID(s string) (all []replacement) {
	id := p.result.Run.ID
	if !runIDs.MatchString(id) {
		return nil
	}
	for from := 0; ; {
		at := strings.Index(s[from:], "agentconform-"+id+"-")
		if at < 0 {
			return all
		}
		start := from + at + len("agentconform-")
		all = append(all, replacement{start, start + len(id), `"$run"`})
		from = start + len(id)
	}
}

// replacement is a part of a text in place of which the shell gets something else.
type replacement struct {
	start, end int
	shell      string
}

// replaced quotes a text for the shell but for the replacements. Of two that overlap the first stays.
func replaced(s string, with []replacement) string {
	slices.SortStableFunc(with, func(a, b replacement) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, r := range with {
		if r.start < at {
			continue
		}
		if r.start > at {
			b.WriteString(quote(s[at:r.start]))
		}
		b.WriteString(r.shell)
		at = r.end
	}
	if at < len(s) || b.Len() == 0 {
		b.WriteString(quote(s[at:]))
	}
	return b.String()
}

// patience is for how many seconds curl waits for the answer. Where there was none after some time, it waits no longer than the suite did:
// a later answer would be none in time either.
func patience(x reports.Exchange) int {
	if seconds := int(x.MS+500) / 1000; x.Status == 0 && seconds > 0 {
		return seconds
	}
	return 30 + int(x.MS)/500
}
