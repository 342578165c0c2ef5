package reports

import (
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

// Bounds of what is kept of one exchange. A target may send megabytes; a report that holds them all cannot be
// opened.
const (
	MaxBody   = 64 << 10 // of a body
	maxHeader = 8 << 10  // of a header's value, of the address and of an error text
	maxName   = 256      // of a header's name
	maxValues = 200      // header values in one direction
)

// Record appends exchanges to those that were recorded, each cut to the bounds of evidence. Ids count from 1.
func Record(all []Exchange, more ...Exchange) []Exchange {
	for _, x := range more {
		x.ID = len(all) + 1
		x.URL, x.Error, x.Curl = safe.Cut(x.URL, maxHeader), safe.Cut(x.Error, maxHeader), safe.Cut(x.Curl, MaxBody)
		x.Request, x.Response = x.Request.bounded(), x.Response.bounded()
		all = append(all, x)
	}
	return all
}

// bounded cuts headers, and the body at a rune boundary. Size and SHA256 tell of the whole body where the kept text is
// not all of it: cut, or no UTF-8 (which no JSON file can hold). Where they are already set, someone before us has cut
// and knew better.
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
			kept["..."] = []string{fmt.Sprintf("more than %d header values: the rest is left out", maxValues)}
			break
		}
		name := safe.Cut(h[0], maxName)
		kept[name] = append(kept[name], safe.Cut(h[1], maxHeader))
	}
	m.Headers = kept
	return m
}

// FullSize is the length of the whole body in bytes, of which Body may hold only the beginning.
func (m Message) FullSize() int { return max(m.Size, len(m.Body)) }

// secretPointers are the places of a body at which the suite puts secrets.
var secretPointers = regexp.MustCompile(`^/secrets/[0-9]{1,9}/value$`)

// SecretSpans are the recorded places of secrets in the body, as byte offsets of JSON texts with their quotation marks,
// in their order.
func (m Message) SecretSpans() [][2]int {
	var found [][2]int
	for _, place := range m.Secrets {
		if !secretPointers.MatchString(place.Pointer) {
			continue
		}
		value := gjson.Get(m.Body, strings.ReplaceAll(strings.TrimPrefix(place.Pointer, "/"), "/", "."))
		if value.Type == gjson.String && value.Index > 0 {
			found = append(found, [2]int{value.Index, value.Index + len(value.Raw)})
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return a[0] - b[0] })
	return found
}

// SortedHeaders lists the headers in the order in which every reader expects them: by name.
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
	for _, h := range m.SortedHeaders() {
		if strings.EqualFold(h[0], name) {
			return h[1]
		}
	}
	return ""
}

// Exchange returns the exchange with this id.
func (r *Result) Exchange(id int) (Exchange, error) {
	if id < 1 || id > len(r.Exchanges) {
		return Exchange{}, fmt.Errorf("no exchange %d: ids are 1 to %d", id, len(r.Exchanges))
	}
	return r.Exchanges[id-1], nil
}

// RenumberExchanges gives the exchanges of r new ids: the exchange order[0] becomes 1, order[1] becomes 2 and so on;
// the order names each once. It adapts all that refers to them. A run calls it at its end: the ids then follow from the
// features and not from which scenario was quicker.
func (r *Result) RenumberExchanges(order []int) {
	renamed, moved := make(map[int]int, len(order)), make([]Exchange, len(order))
	for i, id := range order {
		renamed[id], moved[i] = i+1, r.Exchanges[id-1]
		moved[i].ID = i + 1
	}
	r.Exchanges = moved
	for f := range Each(r.Findings) {
		f.Exchange = renamed[f.Exchange]
		for l := range Each(f.Exchanges) {
			l.Exchange = renamed[l.Exchange]
		}
	}
	for n := range Each(r.Notes) {
		n.Exchange = renamed[n.Exchange]
	}
	for q := range Each(r.Requirements) {
		for s := range Each(q.Scenarios) {
			for i, id := range s.Exchanges {
				s.Exchanges[i] = renamed[id]
			}
			slices.Sort(s.Exchanges)
		}
	}
}

// Observation says in one line what was seen, with the field that it is about where the words do not name it:
// "repo_ref: expected "main", got null"; with the operation where it is about a status: "list-revisions: expected
// status 422, got status 200 with a list of 20 revisions". Where nothing was compared it is the summary.
func (f *Finding) Observation() string {
	if f.Expected == "" || f.Actual == "" {
		return f.Summary
	}
	line := fmt.Sprintf("expected %s, got %s", firstLine(f.Expected), firstLine(f.Actual))
	about := f.field()
	if about == "" && onlyStatus.MatchString(f.Expected) {
		about = f.Operation
	}
	if about != "" && !strings.Contains(line, about) {
		return safe.Ellipsis(about, 40) + ": " + line
	}
	return line
}

// onlyStatus is what was expected where it is nothing but the status.
var onlyStatus = regexp.MustCompile(`^status \d(xx|\d{2})(, \d{3})*( or \d{3})?$`)

// field is the last name in the pointer: "/resources/*/status" is about status.
func (f *Finding) field() string {
	segments := strings.Split(f.Pointer, "/")
	for _, segment := range slices.Backward(segments) {
		if segment != "*" && strings.Trim(segment, "0123456789") != "" {
			return strings.NewReplacer("~1", "/", "~0", "~").Replace(segment)
		}
	}
	return ""
}

// ObservedWhole tells whether [Finding.Observation] holds all of what was expected and of what was seen.
func (f *Finding) ObservedWhole() bool {
	return f.Expected != "" && f.Actual != "" && firstLine(f.Expected) == f.Expected && firstLine(f.Actual) == f.Actual
}

// maxLine bounds what was expected and what was seen in one line, in characters: a few words and one quote.
const maxLine = 120

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return safe.Ellipsis(line, maxLine)
}
