package html

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Limits of the evidence in the page. result.json and result.har contain the rest.
const (
	maxShownBody = 16 << 10 // bytes of each body
	maxEvidence  = 24 << 20 // bytes of all bodies and headers
	chunkSize    = 100      // exchanges that the script parses together
)

// exchangeRow is one line of the list. Its JSON names are short because there are many lines.
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
	class := fmt.Sprintf("s%d", x.Status/100)
	if len(x.Problems) > 0 {
		class += " odd"
	}
	return scrubbed(exchangeRow{
		ID: x.ID, Method: x.Method, Path: p.short(x.URL), Status: x.Status, MS: x.MS, Scenario: x.Scenario,
		Operation: x.Operation, Problems: x.Problems[:min(len(x.Problems), 20)], Class: class,
	}, 500)
}

// short returns the path of an address of the target, with short ids.
func (p *page) short(address string) string {
	return safe.ShortIDs(cmp.Or(p.Result.Target.PathOf(address), address))
}

// RowChunks returns the lines of the list in chunks for the script of the page.
func (p *page) RowChunks() iter.Seq[[]exchangeRow] { return slices.Chunk(p.Rows, 10*chunkSize) }

// ShownChunks returns the evidence of the exchanges in chunks for the script of the page.
func (p *page) ShownChunks() iter.Seq[[]shownExchange] { return slices.Chunk(p.Shown, chunkSize) }

// shownExchange is the evidence of an exchange for the script of the page.
type shownExchange struct {
	URL      string    `json:"u"`
	Error    string    `json:"e,omitempty"`
	Request  shownSide `json:"q"`
	Response shownSide `json:"r"`
	Curl     string    `json:"c,omitempty"`
	AtMS     int64     `json:"t"`
	Repeated string    `json:"w,omitempty"` // set if the request was sent twice
}

type shownSide struct {
	Headers [][2]string `json:"h,omitempty"`
	Body    string      `json:"b,omitempty"`
	Note    string      `json:"n,omitempty"`
}

// exchanges returns the lines of the list and the evidence of all exchanges.
func (p *page) exchanges() (rows []exchangeRow, shown []shownExchange) {
	room := maxEvidence
	for _, x := range p.recorded.Exchanges {
		rows = append(rows, p.row(x))
		s := scrubbed(shownExchange{URL: x.URL, Error: x.Error, Curl: x.Curl, AtMS: x.AtMS}, 4000)
		if x.Repeated {
			s.Repeated = reports.RepeatedNote
		}
		s.Request, s.Response = shownSideOf(x.Request, &room), shownSideOf(x.Response, &room)
		shown = append(shown, s)
	}
	return rows, shown
}

func shownSideOf(m reports.Message, room *int) shownSide {
	s := shownSide{Headers: scrubbed(m.SortedHeaders(), 1000), Body: safe.Visible(safe.Prefix(m.Body, maxShownBody))}
	needed := len(s.Body)
	for _, h := range s.Headers {
		needed += len(h[0]) + len(h[1])
	}
	if needed > *room {
		return shownSide{Note: "not in this page, to keep it small: see result.json"}
	}
	*room -= needed
	if whole := m.FullSize(); whole > maxShownBody {
		s.Note = "cut: the body has " + reports.Count(whole, "byte")
	}
	return s
}
