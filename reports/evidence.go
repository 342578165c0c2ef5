package reports

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports/safe"
)

// Maximum sizes of the parts of a recorded exchange, in bytes. A target may send megabytes, and browsers cannot open a
// report with all of them.
const (
	MaxBody   = 64 << 10 // of a body
	maxHeader = 8 << 10  // for the value of a header, the address and an error text
	maxName   = 256      // for the name of a header
	maxValues = 200      // number of header values in a request or response
)

// Record appends exchanges to all, cut to the maximum sizes, with ids counted from 1.
func Record(all []Exchange, more ...Exchange) []Exchange {
	for _, x := range more {
		x.ID = len(all) + 1
		all = append(all, x.bounded())
	}
	return all
}

// bounded returns the exchange, cut to the maximum sizes.
func (x Exchange) bounded() Exchange {
	x.URL, x.Error, x.Curl = safe.Cut(x.URL, maxHeader), safe.Cut(x.Error, maxHeader), safe.Cut(x.Curl, MaxBody)
	x.Request, x.Response = x.Request.bounded(), x.Response.bounded()
	return x
}

// bounded cuts headers, and the body at a rune boundary. It sets Size and SHA256 to those of the whole body if the body
// was cut or is not UTF-8, which a JSON file cannot contain. It keeps them if they are already set.
func (m Message) bounded() Message {
	if whole := m.Body; len(whole) > MaxBody || !utf8.ValidString(whole) {
		m.Body = safe.Prefix(whole, MaxBody)
		if m.Size == 0 {
			m.Size, m.SHA256 = len(whole), fmt.Sprintf("%x", sha256.Sum256([]byte(whole)))
		}
	}
	kept := map[string][]string{}
	for i, h := range m.SortedHeaders() {
		if i == maxValues {
			kept["..."] = []string{fmt.Sprintf("more than %d header values: the others are not recorded", maxValues)}
			break
		}
		name := safe.Cut(h[0], maxName)
		kept[name] = append(kept[name], safe.Cut(h[1], maxHeader))
	}
	m.Headers = kept
	return m
}

// FullSize returns the size of the whole body in bytes. Body may contain only its beginning.
func (m Message) FullSize() int { return max(m.Size, len(m.Body)) }

// secretPointers matches the pointers of secrets in bodies of the suite.
var secretPointers = regexp.MustCompile(`^/secrets/[0-9]{1,9}/value$`)

// SecretSpans returns the byte offsets of the recorded secrets in the body in ascending order. They include the quotation
// marks.
func (m Message) SecretSpans() [][2]int {
	var found [][2]int
	for _, place := range m.Secrets {
		if !secretPointers.MatchString(place.Pointer) {
			continue
		}
		value := gjson.Get(m.Body, strings.Join(JSONPath(place.Pointer), "."))
		if value.Type == gjson.String && value.Index > 0 {
			found = append(found, [2]int{value.Index, value.Index + len(value.Raw)})
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return a[0] - b[0] })
	return found
}

// JSONPath returns the segments of a JSON pointer (RFC 6901), escaped for gjson.
func JSONPath(pointer string) []string {
	segments := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, s := range segments {
		segments[i] = gjson.Escape(strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~"))
	}
	return segments
}

// SortedHeaders returns names and values of the headers, sorted by name.
func (m Message) SortedHeaders() [][2]string {
	all := [][2]string{}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		for _, value := range m.Headers[name] {
			all = append(all, [2]string{name, value})
		}
	}
	return all
}

// Header returns the first value of a header, whatever the case of its name.
func (m Message) Header(name string) string {
	if values := m.Headers[name]; len(values) > 0 {
		return values[0]
	}
	for _, h := range m.SortedHeaders() {
		if strings.EqualFold(h[0], name) {
			return h[1]
		}
	}
	return ""
}

// Exchange returns the exchange with this id.
func (r *Result) Exchange(id int) (Exchange, error) {
	i, exists := slices.BinarySearchFunc(r.Exchanges, id, func(x Exchange, id int) int { return cmp.Compare(x.ID, id) })
	if !exists {
		return Exchange{}, fmt.Errorf("no exchange %d among the %d of the result", id, len(r.Exchanges))
	}
	return r.Exchanges[i], nil
}

// RemovedNote explains a curl line that contains IDs of removed objects. Most test runs remove their objects.
const RemovedNote = "The last request names objects that the test run has removed. The script creates new ones."

// CurlNote returns the note about the curl line of a finding, or "" if none of its objects was removed.
func (r *Result) CurlNote(f *Finding) string {
	x, err := r.Exchange(f.Exchange)
	if err != nil {
		return ""
	}
	address, _, _ := strings.Cut(x.URL, "?")
	segments := strings.Split(address, "/")
	isNamed := func(e LedgerEntry) bool { return e.Removed && slices.Contains(segments, e.ID) }
	if !slices.ContainsFunc(r.Ledger, isNamed) {
		return ""
	}
	return RemovedNote
}

// SetExchanges sets the exchanges of r to those in the order, with new ids: order[0] becomes 1, order[1] becomes 2 and so
// on. It updates all references. The order must contain each id that a finding refers to, once. It is called at the end
// of a test run, so that the ids do not depend on timing.
func (r *Result) SetExchanges(order []int, exchange func(id int) Exchange) {
	renamed, moved := make(map[int]int, len(order)), make([]Exchange, len(order))
	for i, id := range order {
		renamed[id], moved[i] = i+1, exchange(id)
		moved[i].ID = i + 1
	}
	r.Exchanges = moved
	for n := range Each(r.Notes) {
		n.Exchange = renamed[n.Exchange]
	}
	renumber(r.Requirements, r.Findings, renamed)
	if r.NotScored != nil {
		renumber(r.NotScored.Requirements, r.NotScored.Findings, renamed)
	}
}

// renumber replaces the ids of exchanges in requirements and findings.
func renumber(requirements []Requirement, findings []Finding, renamed map[int]int) {
	for f := range Each(findings) {
		f.Exchange = renamed[f.Exchange]
		for l := range Each(f.Exchanges) {
			l.Exchange = renamed[l.Exchange]
		}
	}
	for q := range Each(requirements) {
		for s := range Each(q.Scenarios) {
			ids := []int{} // an earlier repetition may have other exchanges
			for _, id := range s.Exchanges {
				if renamed[id] > 0 {
					ids = append(ids, renamed[id])
				}
			}
			slices.Sort(ids)
			s.Exchanges = ids
		}
	}
}

// Links returns the exchanges that led to the finding: at least the one that shows it, if any.
func (f *Finding) Links() []Link {
	if len(f.Exchanges) == 0 && f.Exchange > 0 {
		return []Link{{Exchange: f.Exchange, Part: Observation}}
	}
	return f.Exchanges
}

// maxLine is the maximum length of the expected and of the actual value in one line, in characters.
const maxLine = 120

// ExpectedLine returns the expected value in one line.
func (f *Finding) ExpectedLine() string { return firstLine(f.Expected) }

// ActualLine returns the actual value in one line.
func (f *Finding) ActualLine() string { return firstLine(f.Actual) }

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return safe.Ellipsis(line, maxLine)
}
