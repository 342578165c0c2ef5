package recording

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/target"
)

// hidden is the replacement for values that may be secret and do not distinguish callers.
const hidden = "<hidden>"

// shortestWord is the minimum length of a credential that is searched for in texts.
const shortestWord = 12

// callers distinguishes the callers of a recording and hides their credentials. Callers of the configuration keep their
// names, and the record replaces their credentials. Other callers get a number.
type callers struct {
	target   *target.Target
	own      bool // this program wrote the recording
	sides    map[spec.Side][]target.RecordedCaller
	gateway  []string
	names    map[string]string  // names of other callers, by their credentials
	words    map[string]string  // the replacements of credentials in texts
	holds    map[string]bool    // whether headers and parameters hold credentials, by name
	trusted  map[spec.Side]bool // whether the recording contains credentials, so that a request without any had none
	refuses  bool               // the agent server refused a caller without credentials
	listed   bool               // GET /threads was served
	searched bool               // POST /threads/search was served
}

func newCallers(t *target.Target, own bool) *callers {
	c := &callers{target: t, own: own, sides: map[spec.Side][]target.RecordedCaller{}, gateway: t.Gateway(), names: map[string]string{},
		words: map[string]string{}, holds: map[string]bool{}, trusted: map[spec.Side]bool{}}
	for _, side := range spec.Sides() {
		c.sides[side] = t.RecordedCallers(side)
	}
	return c
}

// learn notes the credentials of a request.
func (c *callers) learn(e Entry, at location, op *spec.Operation) {
	known := slices.IndexFunc(c.sides[at.side], func(k target.RecordedCaller) bool { return k.Sent(e.Header) })
	own, values := c.credentials(e.Header, at.query)
	mask := hidden
	switch {
	case known >= 0:
		c.trusted[at.side] = true
		for name := range c.sides[at.side][known].Header() {
			values = slices.DeleteFunc(values, func(value string) bool { return value == e.Header.Get(name) })
		}
	case own != "":
		c.trusted[at.side] = c.trusted[at.side] || c.showsCredentials(e.Header)
		if c.names[own] == "" {
			c.names[own] = fmt.Sprintf("%s%d", target.OtherCaller, len(c.names)+1)
		}
		mask = "<" + c.names[own] + ">"
	case at.side == spec.AgentServer && op.ID != "" && !op.Field && c.isPlain(e.Header):
		c.refuses = c.refuses || e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
	}
	for _, value := range values {
		for word := range strings.FieldsFuncSeq(value, isBetweenWords) {
			if len(word) >= shortestWord && c.words[word] == "" && !c.isName(word) {
				c.words[word] = mask
			}
		}
	}
}

// credentials returns the credentials of a request as one text, or "" if it has none, and their values.
func (c *callers) credentials(header http.Header, query string) (own string, values []string) {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if c.hasCredentials(name) && !slices.Contains(c.gateway, name) && strings.Join(header[name], "") != "" {
			values = append(values, header[name]...)
			own += fmt.Sprintf("%s: %q\n", name, header[name])
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && c.hasCredentials(name) {
			plain, err := url.QueryUnescape(value)
			if err != nil {
				plain = value
			}
			values = append(values, value, plain)
			own += pair + "\n"
		}
	}
	return own, values
}

// showsCredentials reports whether a request has a header that browsers would have removed from an archive without
// credentials.
func (c *callers) showsCredentials(header http.Header) bool {
	for name, values := range header {
		if strings.Join(values, "") != "" && c.target.SendsCredentials(name) {
			return true
		}
	}
	return false
}

// hasCredentials reports whether a header, or a parameter of a query, contains credentials according to its name.
func (c *callers) hasCredentials(name string) bool {
	holds, isKnown := c.holds[name]
	if isKnown {
		return holds
	}
	holds = c.target.HoldsCredentials(name)
	const most = 10_000 // names may come from anywhere
	if len(c.holds) < most {
		c.holds[name] = holds
	}
	return holds
}

// isPlain reports whether no header of a request contains credentials.
func (c *callers) isPlain(header http.Header) bool {
	for name := range header {
		if !target.IsHarmless(name) && !slices.Contains(c.gateway, name) {
			return false
		}
	}
	return true
}

// identify sets the caller of a request, and its headers and its query without the credentials of other callers.
func (c *callers) identify(r *exchange.Request, e Entry) {
	own, _ := c.credentials(e.Header, r.Query)
	shownAs := hidden
	kept := http.Header{}
	at := slices.IndexFunc(c.sides[r.Side], func(k target.RecordedCaller) bool { return k.Sent(e.Header) })
	switch {
	case at >= 0:
		r.Caller = c.sides[r.Side][at].Caller
		kept = c.sides[r.Side][at].Header()
	case own != "":
		r.Caller = exchange.Caller{Name: c.names[own]}
		shownAs = "<" + c.names[own] + ">"
	case c.isPlain(e.Header) && c.trusted[r.Side]:
		r.Caller = exchange.Caller{Name: target.NoCredentials, Invalid: true}
	default: // callers whose credentials are not recorded exist
		r.Caller = exchange.Caller{Name: target.MaybeCaller}
	}
	r.Header = http.Header{}
	for name, values := range e.Header {
		isKept := kept[name] != nil || slices.Contains(c.gateway, name) || target.IsHarmless(name) && !c.hasCredentials(name)
		for _, value := range values {
			switch {
			case isKept:
				r.Header.Add(name, string(c.without([]byte(value))))
			case c.hasCredentials(name):
				r.Header.Add(name, c.maskOf(value, shownAs))
			default:
				r.Header.Add(name, hidden)
			}
		}
	}
	r.Query = c.queryWithout(r.Query)
	r.Path = string(c.without([]byte(r.Path)))
}

// maskOf replaces the credential in the value of a header, and keeps its scheme.
func (c *callers) maskOf(value, mask string) string {
	scheme, rest, hasScheme := strings.Cut(value, " ")
	isScheme := hasScheme && rest != "" && slices.Contains([]string{"basic", "bearer", "token", "digest"}, strings.ToLower(scheme))
	switch {
	case c.isName(value), isScheme && c.isName(rest):
		return value
	case isScheme:
		return scheme + " " + mask
	}
	return mask
}

// namePattern matches the names of callers and secrets that this program writes. The name may be followed by a mistake in
// the credential.
var namePattern = regexp.MustCompile(`^(?:<caller \d+>|<hidden>|\$\{?AGENTCONFORM_[A-Z0-9_]+.{0,20})$`)

// isName reports whether a value is the name of a caller or of a secret in a recording of this program.
func (c *callers) isName(value string) bool { return c.own && namePattern.MatchString(value) }

func (c *callers) queryWithout(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && c.hasCredentials(name) {
			pairs[i] = name + "=hidden"
		}
	}
	return string(c.without([]byte(strings.Join(pairs, "&"))))
}

// shown returns the headers of a response without credentials.
func (c *callers) shown(header http.Header) http.Header {
	all := http.Header{}
	for name, values := range header {
		isPlain := strings.HasPrefix(name, "Access-Control-") || name == "Www-Authenticate" || !c.hasCredentials(name)
		for _, value := range values {
			if isPlain {
				value = string(c.without([]byte(value)))
			} else {
				value = hidden
			}
			all.Add(name, value)
		}
	}
	return all
}

// isBetweenWords reports whether a character separates credentials from other text.
func isBetweenWords(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune("\"'`<>(){}[],;:|\\&?", r)
}

// without returns a text without the credentials of other callers.
func (c *callers) without(text []byte) []byte {
	if len(c.words) == 0 {
		return text
	}
	var changed []byte
	done, start := 0, -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && !isBetweenWords(rune(text[i])) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start >= shortestWord {
			if mask := c.words[string(text[start:i])]; mask != "" {
				changed = append(append(changed, text[done:start]...), mask...)
				done = i
			}
		}
		start = -1
	}
	if done == 0 {
		return text
	}
	return append(changed, text[done:]...)
}

// restorer returns a replacer for an archive of this program: it replaces the names of secrets by the secrets of the
// configuration.
func restorer(t *target.Target) *strings.Replacer {
	var pairs []string
	for _, variable := range t.Config.Environment() {
		name, value, _ := strings.Cut(variable, "=")
		quoted, _ := json.Marshal(value)
		if string(quoted) == `"`+value+`"` { // in a body it would be escaped twice
			pairs = slices.Insert(pairs, 0, "$"+name, value) // placed before names that are a prefix of it, so that the longest name is found
		}
	}
	return strings.NewReplacer(pairs...)
}
