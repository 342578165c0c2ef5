package html

import (
	"encoding/json"
	"fmt"
	"html/template"
	"iter"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of the evidence within the page. What is left out is in result.json and result.har.
const (
	maxShownBody = 16 << 10 // bytes of each body
	maxEvidence  = 24 << 20 // bytes of all bodies and headers
	chunkSize    = 100      // exchanges that are unpacked at once
)

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

func (p *page) row(x reports.Exchange) exchangeRow {
	x.Request, x.Response = reports.Message{}, reports.Message{}
	x = scrubbed(x, 500)
	class := fmt.Sprintf("s%d", x.Status/100)
	if len(x.Problems) > 0 {
		class += " odd"
	}
	return exchangeRow{
		ID: x.ID, Method: x.Method, Path: p.short(x.URL), Status: x.Status, MS: x.MS, Scenario: x.Scenario,
		Operation: x.Operation, Problems: x.Problems[:min(len(x.Problems), 20)], Class: class,
	}
}

// short leaves out what all addresses have in common, and shortens ids: what differs is at the end.
func (p *page) short(address string) string {
	for _, base := range []string{p.R.Target.ControlPlane, p.R.Target.AgentServer} {
		if rest, ok := strings.CutPrefix(address, strings.TrimRight(base, "/")); ok && base != "" && strings.HasPrefix(rest, "/") {
			address = rest
			break
		}
	}
	return safe.ShortIDs(address)
}

// Exchanges tells the template how many there are.
func (p *page) Exchanges() int { return p.all.Len() }

// PlainRows gives the first thousand lines of the list, for readers without scripts.
func (p *page) PlainRows() (rows []exchangeRow) {
	for x := range p.all.All() {
		if x.ID > 1000 {
			break
		}
		rows = append(rows, p.row(x))
	}
	return rows
}

// RowChunks gives the lines of the list as data.
func (p *page) RowChunks() iter.Seq[template.JS] { return chunks(p.all, 10*chunkSize, p.row) }

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

// Chunks gives the evidence of all exchanges as data.
func (p *page) Chunks() iter.Seq[template.JS] {
	room := maxEvidence
	return chunks(p.all, chunkSize, func(x reports.Exchange) shownExchange {
		s := shownExchange{Request: shownSideOf(x.Request, &room), Response: shownSideOf(x.Response, &room)}
		x.Request, x.Response = reports.Message{}, reports.Message{}
		x = scrubbed(x, 4000)
		s.URL, s.Error, s.Curl, s.AtMS = x.URL, x.Error, x.Curl, x.AtMS
		return s
	})
}

func shownSideOf(m reports.Message, room *int) shownSide {
	s := shownSide{Headers: scrubbed(m.SortedHeaders(), 1000), Body: safe.Visible(safe.Prefix(m.Body, maxShownBody))}
	needed := len(s.Body)
	for _, h := range s.Headers {
		needed += len(h[0]) + len(h[1])
	}
	if needed > *room {
		return shownSide{Note: "left out to keep this page small: see result.json"}
	}
	*room -= needed
	if whole := m.FullSize(); whole > maxShownBody {
		s.Note = "cut here: " + reports.Count(whole, "byte") + " in all"
	}
	return s
}

// chunks gives the exchanges some at a time: JSON that holds nothing that could end a script element.
func chunks[T any](all *reports.Exchanges, size int, item func(reports.Exchange) T) iter.Seq[template.JS] {
	return func(yield func(template.JS) bool) {
		var chunk []T
		flush := func() bool {
			doc, _ := json.Marshal(chunk) // texts and numbers; writes <, > and & as escapes
			chunk = nil
			return yield(template.JS(safe.JSON(doc))) //nolint:gosec // JSON with all of HTML escaped
		}
		for x := range all.All() {
			if chunk = append(chunk, item(x)); len(chunk) == size && !flush() {
				return
			}
		}
		if len(chunk) > 0 {
			flush()
		}
	}
}
