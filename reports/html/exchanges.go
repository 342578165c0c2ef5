package html

import (
	"encoding/json"
	"html/template"
	"iter"
	"regexp"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of the evidence within the page. What is left out is in result.json and result.har.
const (
	maxRows      = 5000     // exchanges that are listed
	maxShownBody = 16 << 10 // bytes of each body
	maxEvidence  = 24 << 20 // bytes of all bodies and headers
	chunkSize    = 100      // exchanges that are unpacked at once
)

// exchangeList walks through the exchanges twice while the page is written: once for the list, once for the data.
// Neither holds more than a chunk in memory. The first error ends it and is told after the page.
type exchangeList struct {
	all    reports.Exchanges
	result *reports.Result
	err    error
}

// exchangeRow is one line of the list.
type exchangeRow struct {
	ID       int
	Method   string
	Path     string
	Status   int
	Error    string
	MS       float64
	Scenario string
	Problems int
	Class    string
}

// Exchanges tells the template how many there are.
func (p *page) Exchanges() int {
	if p.exchanges.all == nil {
		return 0
	}
	return p.exchanges.all.Len()
}

// Unlisted tells how many are left out.
func (p *page) Unlisted() int { return max(p.Exchanges()-maxRows, 0) }

func (l *exchangeList) each() iter.Seq[reports.Exchange] {
	return func(yield func(reports.Exchange) bool) {
		if l.all == nil || l.err != nil {
			return
		}
		n := 0
		for x, err := range l.all.All() {
			if n++; n > maxRows {
				return
			}
			if err != nil {
				l.err = err
				return
			}
			if !yield(x) {
				return
			}
		}
	}
}

// Rows gives the lines of the list.
func (p *page) Rows() iter.Seq[exchangeRow] {
	return func(yield func(exchangeRow) bool) {
		for x := range p.exchanges.each() {
			x.Request, x.Response = reports.Message{}, reports.Message{}
			x = scrubbed(x, 500)
			row := exchangeRow{
				ID: x.ID, Method: x.Method, Path: p.exchanges.short(x.URL), Status: x.Status, Error: x.Error, MS: x.MS,
				Scenario: x.Scenario, Problems: len(x.Problems), Class: exchangeClass(x),
			}
			if !yield(row) {
				return
			}
		}
	}
}

var uuids = regexp.MustCompile(`([0-9a-fA-F]{8})-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)

// short leaves out what all addresses have in common, and shortens ids: what differs is at the end.
func (l *exchangeList) short(address string) string {
	for _, base := range []string{l.result.Target.ControlPlane, l.result.Target.AgentServer} {
		if rest, ok := strings.CutPrefix(address, strings.TrimRight(base, "/")); ok && base != "" && strings.HasPrefix(rest, "/") {
			address = rest
			break
		}
	}
	return uuids.ReplaceAllString(address, "$1…")
}

func exchangeClass(x reports.Exchange) string {
	switch {
	case x.Status == 0 || x.Status >= 500:
		return "bad"
	case len(x.Problems) > 0:
		return "odd"
	case x.Status >= 400:
		return "off"
	}
	return "up"
}

// shownExchange is an exchange as data for the page's script; short names, because there are many.
type shownExchange struct {
	URL      string    `json:"u"`
	Error    string    `json:"e,omitempty"`
	Problems []string  `json:"p,omitempty"`
	Request  shownSide `json:"q"`
	Response shownSide `json:"r"`
	Curl     string    `json:"c,omitempty"`
	AtMS     int64     `json:"t"`
}

type shownSide struct {
	Headers [][2]string `json:"h,omitempty"`
	Body    string      `json:"b,omitempty"`
	Note    string      `json:"n,omitempty"`
}

// Chunks gives the data of all exchanges, some at a time: JSON that holds nothing that could end a script element.
func (p *page) Chunks() iter.Seq[template.JS] {
	return func(yield func(template.JS) bool) {
		left, chunk := maxEvidence, make([]shownExchange, 0, chunkSize)
		flush := func() bool {
			doc, err := json.Marshal(chunk) // writes <, > and & as escapes
			if err != nil {
				p.exchanges.err = err
				return false
			}
			chunk = chunk[:0]
			return yield(template.JS(safe.JSON(doc))) //nolint:gosec // JSON with all of HTML escaped
		}
		for x := range p.exchanges.each() {
			chunk = append(chunk, shown(x, &left))
			if len(chunk) == chunkSize && !flush() {
				return
			}
		}
		if len(chunk) > 0 {
			flush()
		}
	}
}

func shown(x reports.Exchange, left *int) shownExchange {
	s := shownExchange{Request: shownSideOf(x.Request, left), Response: shownSideOf(x.Response, left)}
	x.Request, x.Response = reports.Message{}, reports.Message{}
	x = scrubbed(x, 4000)
	s.URL, s.Error, s.Problems, s.Curl, s.AtMS = x.URL, x.Error, x.Problems, x.Curl, x.AtMS
	return s
}

func shownSideOf(m reports.Message, left *int) shownSide {
	s := shownSide{Headers: sortedHeaders(scrubbed(m.Headers, 1000)), Body: safe.Visible(safe.Prefix(m.Body, maxShownBody))}
	needed := len(s.Body)
	for _, h := range s.Headers {
		needed += len(h[0]) + len(h[1])
	}
	if needed > *left {
		return shownSide{Note: "left out to keep this page small: it is in result.json"}
	}
	*left -= needed
	if whole := m.FullSize(); whole > maxShownBody {
		s.Note = "cut here: " + reports.Count(whole, "byte") + " in all"
	}
	return s
}
