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

// Redactor replaces secrets by the names that reports show. Its methods may be called concurrently.
//
// A secret of at least 12 bytes is replaced everywhere, in each of the spellings that SECURITY.md lists. A shorter
// secret, or one that is a common text, is replaced only at the places where the suite itself has put it. Elsewhere the
// same text is probably not the secret, and replacing it would make reports unreadable.
type Redactor struct {
	adding sync.Mutex
	common []string
	known  atomic.Pointer[redactions]
}

// redactions holds the secrets of a redactor and their replacements.
type redactions struct {
	secrets  map[string]string // names of all secrets
	replacer *strings.Replacer
	recorder *strings.Replacer // also escapes texts that look like names
	own      *strings.Replacer // replaces all secrets, for the places in which the suite has put them
	names    []string
	shapes   map[string]string // names of the secrets that are replaced everywhere, by spelling
}

// NewRedactor returns a redactor for the secrets, given with their names ("$AGENTCONFORM_CREDENTIALS_API_KEY"). In a
// secret of the form "//user:password@", the slashes and the "@" are not replaced. A secret that is one of the common
// texts is not replaced everywhere.
func NewRedactor(secrets map[string]string, common ...string) *Redactor {
	r := &Redactor{common: common}
	r.known.Store(&redactions{})
	r.Add(secrets)
	return r
}

// Add adds secrets before they are sent. Known secrets keep their names.
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

// pairsOf returns the spellings of secrets, each followed by the name that replaces it. Longer spellings come first,
// because they may contain shorter ones.
func pairsOf(names map[string]string) (pairs []string) {
	longestFirst := func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }
	for _, shape := range slices.SortedFunc(maps.Keys(names), longestFirst) {
		pairs = append(pairs, shape, names[shape])
	}
	return pairs
}

// Record returns a text for the record. It replaces secrets, and escapes texts that look like the name of a secret
// ("$_AGENTCONFORM_..."), so that they are not mistaken for names that the redactor has inserted.
func (r *Redactor) Record(s string) string { return r.known.Load().recorder.Replace(s) }

// Text returns a text without secrets.
func (r *Redactor) Text(s string) string { return r.known.Load().replacer.Replace(s) }

// shortestTrace is the minimum length of a part of a secret that is removed from an excerpt.
const shortestTrace = 4

// Excerpt returns a text without secrets. The text may have been cut, so Excerpt also removes parts of secrets at its end
// and on either side of a "..." within it.
func (r *Redactor) Excerpt(s string) string {
	const mark, dots = "...", ". …"
	pieces := strings.Split(r.Text(s), mark)
	for i, piece := range pieces {
		body := strings.TrimRight(piece, dots)
		n := r.trace(func(shape string) int { return overlap(body, shape, len(shape)-1) })
		if n > 0 {
			piece = body[:len(body)-n]
			if i == len(pieces)-1 { // mark the cut
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

// overlap returns the length of the longest suffix of end that is a prefix of beginning and has at most most bytes, or 0
// if it is shorter than shortestTrace.
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

// Request returns a request for the record, with the places of the secrets that the suite has put into it. These are
// header values that contain a secret, because only the configuration sets them, and the values of the secrets of a
// deployment in a body ({"secrets": [{"name", "value"}]}). A secret at any other place was sent by the target.
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
			// The value is from the configuration, so a name in it always stands for a secret.
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
		if !isWhole { // a short secret is replaced only if it is the whole value
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

// secretValues returns the values of the secrets of a deployment in a body.
func secretValues(body []byte) (all []gjson.Result) {
	if len(body) == 0 || !json.Valid(body) {
		return nil
	}
	for _, secret := range gjson.GetBytes(body, "secrets").Array() {
		all = append(all, secret.Get("value"))
	}
	return all
}

// plainHeaders are the headers whose values do not depend on the configuration.
var plainHeaders = []string{"Accept", "Content-Type", "Origin", "Access-Control-Request-Method",
	"Access-Control-Request-Headers"}

// ShortestSpelled is the minimum length in bytes of a secret that is replaced everywhere, in all spellings.
const ShortestSpelled = 12

// SpellingsOf returns the spellings in which a secret is found: as it was sent, URL-encoded, HTML-escaped, in base64, each of
// these URL-encoded once more, and JSON-escaped once or twice, because the suite quotes JSON. SECURITY.md lists them.
func SpellingsOf(secret string) []string {
	query, path, escaped := url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret)
	all := []string{secret, query, path, strings.ReplaceAll(query, "+", "%20"), strings.ReplaceAll(path, "%2F", "/"),
		escaped, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(escaped),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte(secret))}
	for _, s := range all { // the suite puts an id, which may be a spelling of a secret, into a path
		all = append(all, url.PathEscape(s))
	}
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

// encoded returns the base64 of a longer text that contains the secret, such as a Basic pair: for each of the three
// offsets, the part that depends only on the secret.
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

// escapedAsJSON returns the spellings of a text within a JSON string: first with as few escapes as possible, then with
// the escapes of other encoders, which also escape HTML, "/", or all characters beyond ASCII.
func escapedAsJSON(s string) (all []string) {
	for _, safe := range []bool{false, true} {
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(safe)
		_ = e.Encode(s) // a string can always be encoded
		escaped := strings.TrimSuffix(strings.TrimPrefix(text.String(), `"`), "\"\n")
		slashes := strings.ReplaceAll(escaped, "/", `\/`)
		all = append(all, escaped, slashes, ascii(escaped), ascii(slashes))
	}
	return all
}

// ascii escapes all characters beyond ASCII.
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

// Curl returns a shell line that sends the recorded request again. Secrets are variables, which the shell expands at the
// recorded places only. Via describes how the target was reached and may be nil.
func (r *Redactor) Curl(method, url string, m reports.Message, via *reports.Connection) string {
	var b strings.Builder
	b.WriteString("curl -sS -i")
	if hasDotSegments(url) {
		b.WriteString(" --path-as-is")
	}
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
		if value == "" { // curl omits a header that is written as "Name:"
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

// Command returns a shell line that starts the program with the arguments. Secrets appear as variables, which the shell
// expands.
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

// word returns the text as one word for a POSIX shell. The shell expands only the names of secrets within the spans.
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
	quote(len(text))
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// nameAt returns the longest name of a secret at the beginning of a text, or "".
func (r *Redactor) nameAt(text string) (longest string) {
	if !strings.HasPrefix(text, "$") {
		return ""
	}
	for _, name := range r.known.Load().names { // sorted, so that a longer name comes after its prefixes
		if strings.HasPrefix(text, name) {
			longest = name
		}
	}
	return longest
}
