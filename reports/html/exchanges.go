package html

import (
	"encoding/json"
	"html/template"
	"iter"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of the evidence within the page. What is left out is in result.json and result.har.
const (
	maxRows      = 50_000   // exchanges that are listed
	maxPlainRows = 1000     // exchanges that are listed for readers without scripts
	maxShownBody = 16 << 10 // bytes of each body
	maxEvidence  = 24 << 20 // bytes of all bodies and headers
	maxLinked    = 8 << 20  // bytes of those that led to findings, which are kept when the others are not
	chunkSize    = 100      // exchanges that are unpacked at once
)

// exchangeList walks through the exchanges while the page is written: for the plain list, for the rows and for the
// evidence.
type exchangeList struct {
	all    reports.Exchanges
	result *reports.Result
	linked map[int]bool // those that led to a finding
}

func newExchangeList(all reports.Exchanges, r *reports.Result) *exchangeList {
	if all == nil {
		all = reports.NewMemory()
	}
	return &exchangeList{all: all, result: r, linked: map[int]bool{}}
}

// get reads one exchange that led to a finding.
func (l *exchangeList) get(id int) (reports.Exchange, bool) {
	x, err := l.all.Get(id)
	l.linked[id] = err == nil
	return x, err == nil
}

// exchangeRow is one line of the list; as data for the page's script it has short names, because there are many.
type exchangeRow struct {
	ID        int      `json:"i"`
	Method    string   `json:"m"`
	Path      string   `json:"a"`
	Status    int      `json:"s"`
	MS        float64  `json:"d"`
	Scenario  string   `json:"b"`
	Operation string   `json:"o,omitempty"`
	Problems  []string `json:"p,omitempty"`
	Class     string   `json:"c"`
}

func (l *exchangeList) row(x reports.Exchange) exchangeRow {
	x.Request, x.Response = reports.Message{}, reports.Message{}
	x = scrubbed(x, 500)
	return exchangeRow{
		ID: x.ID, Method: x.Method, Path: l.short(x.URL), Status: x.Status, MS: x.MS, Scenario: x.Scenario,
		Operation: x.Operation, Problems: x.Problems[:min(len(x.Problems), 20)], Class: exchangeClass(x),
	}
}

// Exchanges tells the template how many there are.
func (p *page) Exchanges() int { return p.exchanges.all.Len() }

// Unlisted tells how many are left out.
func (p *page) Unlisted() int { return max(p.Exchanges()-maxRows, 0) }

// PlainUnlisted tells how many are left out of the list for readers without scripts.
func (p *page) PlainUnlisted() int { return max(p.Exchanges()-maxPlainRows, 0) }

// PlainRows gives the lines of the list for readers without scripts.
func (p *page) PlainRows() (rows []exchangeRow) {
	for x := range p.exchanges.all.All() {
		if x.ID > maxPlainRows {
			break
		}
		rows = append(rows, p.exchanges.row(x))
	}
	return rows
}

// short leaves out what all addresses have in common, and shortens ids: what differs is at the end.
func (l *exchangeList) short(address string) string {
	for _, base := range []string{l.result.Target.ControlPlane, l.result.Target.AgentServer} {
		if rest, ok := strings.CutPrefix(address, strings.TrimRight(base, "/")); ok && base != "" && strings.HasPrefix(rest, "/") {
			address = rest
			break
		}
	}
	return safe.ShortIDs(address)
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

// shownExchange is the evidence of an exchange as data for the page's script.
type shownExchange struct {
	URL      string    `json:"u"`
	Error    string    `json:"e,omitempty"`
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

// RowChunks gives the lines of the list as data.
func (p *page) RowChunks() iter.Seq[template.JS] {
	return chunks(p.exchanges, 10*chunkSize, p.exchanges.row)
}

// Chunks gives the evidence of all exchanges as data.
func (p *page) Chunks() iter.Seq[template.JS] {
	left, linkedLeft := maxEvidence, maxLinked
	return chunks(p.exchanges, chunkSize, func(x reports.Exchange) shownExchange {
		if p.exchanges.linked[x.ID] {
			return shown(x, &linkedLeft)
		}
		return shown(x, &left)
	})
}

// chunks gives the exchanges some at a time: JSON that holds nothing that could end a script element.
func chunks[T any](l *exchangeList, size int, item func(reports.Exchange) T) iter.Seq[template.JS] {
	return func(yield func(template.JS) bool) {
		chunk := make([]T, 0, size)
		flush := func() bool {
			doc, _ := json.Marshal(chunk) // texts and numbers; writes <, > and & as escapes
			chunk = chunk[:0]
			return yield(template.JS(safe.JSON(doc))) //nolint:gosec // JSON with all of HTML escaped
		}
		for x := range l.all.All() {
			if x.ID > maxRows {
				break
			}
			chunk = append(chunk, item(x))
			if len(chunk) == size && !flush() {
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
	s.URL, s.Error, s.Curl, s.AtMS = x.URL, x.Error, x.Curl, x.AtMS
	return s
}

func shownSideOf(m reports.Message, left *int) shownSide {
	s := shownSide{Headers: sortedHeaders(scrubbed(m.Headers, 1000)), Body: safe.Visible(safe.Prefix(m.Body, maxShownBody))}
	needed := len(s.Body)
	for _, h := range s.Headers {
		needed += len(h[0]) + len(h[1])
	}
	if needed > *left {
		return shownSide{Note: "left out to keep this page small: see result.json"}
	}
	*left -= needed
	if whole := m.FullSize(); whole > maxShownBody {
		s.Note = "cut here: " + reports.Count(whole, "byte") + " in all"
	}
	return s
}
