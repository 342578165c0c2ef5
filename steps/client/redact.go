package client

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Redactor replaces secrets by the names under which reports show them. It may be used by many goroutines.
//
// A secret of 12 bytes and more is replaced wherever it stands, in each of the spellings that SECURITY.md lists. A
// shorter one, or one that is a common text, is replaced only where the suite itself has put it: elsewhere the same
// text means something else, and replacing it would spoil every report.
type Redactor struct {
	adding sync.Mutex
	common []string
	known  atomic.Pointer[redactions]
}

// redactions are what a redactor does with the secrets that it knows.
type redactions struct {
	secrets  map[string]string // all that were ever known, with their names
	replacer *strings.Replacer
	recorder *strings.Replacer // also escapes what looks like a name
	own      *strings.Replacer // of all secrets, for the places in which the suite has put them
	names    []string
	shapes   map[string]string // names of the secrets that are replaced everywhere, by each spelling
}

// NewRedactor takes the secrets with their names ("$AGENTCONFORM_CREDENTIALS_API_KEY"). A text "//user:password@" keeps
// its ends. The common texts are not replaced everywhere, even if they are secrets.
func NewRedactor(secrets map[string]string, common ...string) *Redactor {
	r := &Redactor{common: common}
	r.known.Store(&redactions{})
	r.Add(secrets)
	return r
}

// Add makes further secrets known, before they are sent. Those that are known already stay so, with their names.
func (r *Redactor) Add(secrets map[string]string) {
	r.adding.Lock()
	defer r.adding.Unlock()
	all := map[string]string{}
	maps.Copy(all, secrets)
	maps.Copy(all, r.known.Load().secrets)
	r.known.Store(redactionsOf(all, r.common))
}

func redactionsOf(secrets map[string]string, common []string) *redactions {
	own := map[string]string{}
	r := &redactions{secrets: secrets, shapes: map[string]string{}}
	r.names = distinct(slices.Collect(maps.Values(secrets)))
	for secret, name := range secrets {
		userInfo := strings.HasPrefix(secret, "//") && strings.HasSuffix(secret, "@")
		if userInfo {
			name = "//" + name + "@"
		}
		everywhere := userInfo || len(secret) >= ShortestSpelled && !slices.Contains(common, secret)
		for _, shape := range SpellingsOf(secret) {
			own[shape] = name
			if everywhere {
				r.shapes[shape] = name
			}
		}
	}
	pairs := pairsOf(r.shapes)
	r.replacer = strings.NewReplacer(pairs...)
	r.own = strings.NewReplacer(pairsOf(own)...)
	r.recorder = strings.NewReplacer(append(pairs, "$AGENTCONFORM_", "$_AGENTCONFORM_",
		"${AGENTCONFORM_", "$_{AGENTCONFORM_")...)
	return r
}

// pairsOf are shapes, each with its name, in the order in which they are replaced: one that contains another is
// replaced whole.
func pairsOf(names map[string]string) (pairs []string) {
	longestFirst := func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }
	for _, shape := range slices.SortedFunc(maps.Keys(names), longestFirst) {
		pairs = append(pairs, shape, names[shape])
	}
	return pairs
}

// Record returns a text as it is to be recorded: without secrets, and with whatever in it looks like the name of one
// escaped ("$_AGENTCONFORM_..."), so that only the names that the redactor itself has put there can be taken for names.
func (r *Redactor) Record(s string) string { return r.known.Load().recorder.Replace(s) }

// Text returns the text without secrets.
func (r *Redactor) Text(s string) string { return r.known.Load().replacer.Replace(s) }

// shortestTrace is how much of a secret at the end of an excerpt is too much.
const shortestTrace = 4

// Excerpt returns a text that may have been cut before it came here without secrets: also without the parts of one that
// a cut may have left at its end, or on either side of a "..." within it.
func (r *Redactor) Excerpt(s string) string {
	const mark, dots = "...", ". …"
	pieces := strings.Split(r.Text(s), mark)
	for i, piece := range pieces {
		body := strings.TrimRight(piece, dots)
		n := r.trace(func(shape string) int { return overlap(body, shape, len(shape)-1) })
		if n > 0 {
			piece = body[:len(body)-n]
			if i == len(pieces)-1 { // nothing else marks the cut
				piece += mark
			}
		}
		body = strings.TrimLeft(piece, dots)
		n = r.trace(func(shape string) int { return overlap(shape, body, len(shape)-1) })
		if n > 0 && i > 0 {
			piece = body[n:]
		}
		pieces[i] = piece
	}
	return strings.Join(pieces, mark)
}

// trace returns the length of the longest part of a secret that is in a text, or 0.
func (r *Redactor) trace(length func(shape string) int) (longest int) {
	for shape := range r.known.Load().shapes {
		longest = max(longest, length(shape))
	}
	return longest
}

// overlap returns the length of the longest suffix of end that is a prefix of beginning and has no more than most bytes,
// or 0 if it is shorter than shortestTrace.
func overlap(end, beginning string, most int) int {
	most = min(most, len(end), len(beginning))
	for at := len(end) - most; at <= len(end)-shortestTrace; at++ {
		next := strings.Index(end[at:], beginning[:shortestTrace])
		if next < 0 {
			return 0
		}
		at += next
		if strings.HasPrefix(beginning, end[at:]) {
			return len(end) - at
		}
	}
	return 0
}

// Request returns a request as it is to be recorded, with the places where the suite has put secrets into it. Header
// values come from the configuration alone, so each that holds a secret is such a place; in a body it is the values of
// a deployment's own secrets ({"secrets": [{"name", "value"}]}). A secret in any other place was sent by the target.
func (r *Redactor) Request(header http.Header, body []byte) reports.Message {
	known := r.known.Load()
	m := reports.Message{Headers: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		holds := false
		for _, v := range header[name] {
			at := known.own.Replace(v)
			if at == v || slices.Contains(plainHeaders, name) {
				m.Headers[name] = append(m.Headers[name], r.Record(v))
				continue
			}
			// What looks like a name is one: the configuration holds the value.
			m.Headers[name] = append(m.Headers[name], r.Text(at))
			holds = true
		}
		if holds {
			m.Secrets = append(m.Secrets, reports.SecretPlace{Header: name})
		}
	}
	text, done := string(body), 0
	for i, value := range secretValues(body) {
		name, isWhole := known.secrets[value.Str]
		if !isWhole { // a short one is replaced where it is all of it
			name = r.Text(value.Str)
		}
		if name == value.Str {
			continue
		}
		m.Secrets = append(m.Secrets, reports.SecretPlace{Pointer: fmt.Sprintf("/secrets/%d/value", i)})
		if value.Index >= max(done, 1) && r.Text(value.Str) == value.Str {
			m.Body += r.Record(text[done:value.Index]) + `"` + name + `"`
			done = value.Index + len(value.Raw)
		}
	}
	m.Body += r.Record(text[done:])
	return m
}

// secretValues are the values of a deployment's own secrets in a body.
func secretValues(body []byte) (all []gjson.Result) {
	if len(body) == 0 || !json.Valid(body) {
		return nil
	}
	for _, secret := range gjson.GetBytes(body, "secrets").Array() {
		all = append(all, secret.Get("value"))
	}
	return all
}

// plainHeaders are those of which the suite sends the same values whatever the configuration is.
var plainHeaders = []string{"Accept", "Content-Type", "Origin", "Access-Control-Request-Method",
	"Access-Control-Request-Headers"}

// ShortestSpelled is the least length in bytes of a secret that is looked for everywhere, in all spellings.
const ShortestSpelled = 12

// SpellingsOf are the spellings in which a secret is found, and no others: as it was sent, URL-encoded, HTML-escaped,
// in base64, and each of these JSON-escaped, once or twice: the suite quotes JSON. SECURITY.md lists them.
func SpellingsOf(secret string) []string {
	query, path, escaped := url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret)
	all := []string{secret, query, path, strings.ReplaceAll(query, "+", "%20"), strings.ReplaceAll(path, "%2F", "/"),
		escaped, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(escaped),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte(secret))}
	for _, s := range all {
		all = append(all, octets.ReplaceAllStringFunc(s, strings.ToLower))
	}
	if len(secret) >= ShortestSpelled {
		all = append(all, encoded(secret)...)
	}
	all = distinct(all)
	for _, s := range all {
		all = append(all, escapedAsJSON(s)...)
	}
	all = distinct(all)
	for _, s := range all {
		all = append(all, escapedAsJSON(s)[0])
	}
	return distinct(all)
}

func distinct(texts []string) []string { return slices.Compact(slices.Sorted(slices.Values(texts))) }

var octets = regexp.MustCompile(`%[0-9A-F]{2}`)

// encoded are the parts of the base64 of a longer text, such as a Basic pair, that follow from the secret alone, at
// each of the three offsets.
func encoded(secret string) []string {
	var all []string
	for offset, first := range []int{0, 2, 3} {
		text := append(make([]byte, offset), secret...)
		last := len(text) * 8 / 6
		all = append(all, base64.RawStdEncoding.EncodeToString(text)[first:last],
			base64.RawURLEncoding.EncodeToString(text)[first:last])
	}
	return all
}

// escapedAsJSON is a text within a JSON string, first as encoders write it that escape as little as they can; others
// also escape what has a meaning in HTML, "/", or all that is not ASCII.
func escapedAsJSON(s string) (all []string) {
	for _, safe := range []bool{false, true} {
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(safe)
		_ = e.Encode(s) // a string can be written
		escaped := strings.TrimSuffix(strings.TrimPrefix(text.String(), `"`), "\"\n")
		slashes := strings.ReplaceAll(escaped, "/", `\/`)
		all = append(all, escaped, slashes, ascii(escaped), ascii(slashes))
	}
	return all
}

// ascii escapes all that is not ASCII.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// Curl returns a shell line that sends the recorded request again. Secrets appear as the variables that hold them,
// which the shell expands at the recorded places only. Via says how the target was reached; it may be nil.
func (r *Redactor) Curl(method, url string, m reports.Message, via *reports.Connection) string {
	var b strings.Builder
	b.WriteString("curl -sS -i")
	arguments, address := via.Curl(url)
	for _, word := range arguments {
		b.WriteString(" " + word)
	}
	if method != "GET" {
		b.WriteString(" -X " + method)
	}
	for _, header := range m.SortedHeaders() {
		name, value := header[0], header[1]
		text, spans := name+": "+value, [][2]int(nil)
		if value == "" { // "Name:" would make curl leave the header out
			text = name + ";"
		} else if slices.Contains(m.Secrets, reports.SecretPlace{Header: name}) {
			spans = [][2]int{{len(text) - len(value), len(text)}}
		}
		b.WriteString(" -H " + r.word(text, spans...))
	}
	if m.Body != "" {
		b.WriteString(" --data-raw " + r.word(m.Body, m.SecretSpans()...))
	}
	b.WriteString(" " + r.word(address))
	return b.String()
}

// Command returns a shell line that starts the program with the arguments. Secrets in them appear as the variables that
// hold them, which the shell expands.
func (r *Redactor) Command(program string, arguments ...string) string {
	line := program
	for _, argument := range arguments {
		text := r.Text(argument)
		word := reports.ShellWord(text)
		if word != text {
			word = r.word(text, [2]int{0, len(text)})
		}
		line += " " + word
	}
	return line
}

// word makes one word of the text for a POSIX shell, in which nothing is expanded but the names of secrets within the
// spans.
func (r *Redactor) word(text string, spans ...[2]int) string {
	var b strings.Builder
	quoted := 0
	quote := func(to int) {
		if to > quoted {
			b.WriteString(safe.ShellWord(text[quoted:to]))
		}
		quoted = to
	}
	for _, span := range spans {
		for at := max(span[0], quoted); at < span[1]; at++ {
			if name := r.nameAt(text[at:span[1]]); name != "" {
				quote(at)
				b.WriteString(`"` + name + `"`)
				quoted = at + len(name)
				at = quoted - 1
			}
		}
	}
	if quote(len(text)); b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// nameAt is the longest name of a secret that a text begins with, "" where there is none.
func (r *Redactor) nameAt(text string) (longest string) {
	if !strings.HasPrefix(text, "$") {
		return ""
	}
	for _, name := range r.known.Load().names { // in their order: of those that begin alike the longest is last
		if strings.HasPrefix(text, name) {
			longest = name
		}
	}
	return longest
}
