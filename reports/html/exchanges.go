package html

import (
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Limits of the exchanges in the page. The file with all exchanges has the rest.
const (
	maxShownBody = 16 << 10 // bytes of each body
	maxEvidence  = 12 << 20 // bytes of all bodies and headers, before compression
)

// record is an exchange for the script of the page. Its JSON has the members of result.json and a few more.
type record struct {
	reports.Exchange
	Path         string `json:"path"`           // with short ids
	Note         string `json:"note,omitempty"` // set if the request was sent twice
	RequestNote  string `json:"request_note,omitempty"`
	ResponseNote string `json:"response_note,omitempty"`
}

// records returns all exchanges. If their bodies are too large for the page, the findings' exchanges keep theirs first.
func (p *page) records() []record {
	isEvidence := reports.ExchangesOf(p.recorded.Findings)
	room := maxEvidence
	records := make([]record, len(p.recorded.Exchanges))
	for _, turn := range []bool{true, false} {
		for i, x := range p.recorded.Exchanges {
			if isEvidence[x.ID] == turn {
				records[i] = p.record(x, &room)
			}
		}
	}
	return records
}

// record returns an exchange, and subtracts the size of its bodies and headers from room.
func (p *page) record(x reports.Exchange, room *int) record {
	r := record{Path: p.short(x.URL)}
	sent, received := x.Request, x.Response
	x.Request, x.Response, x.Problems = reports.Message{}, reports.Message{}, x.Problems[:min(len(x.Problems), 20)]
	r.Exchange = scrubbed(x, 4000)
	r.Request, r.RequestNote = messageOf(sent, room)
	r.Response, r.ResponseNote = messageOf(received, room)
	if x.Repeated {
		r.Note = reports.RepeatedNote
	}
	return r
}

// messageOf returns the part of a request or response that is in the page. If it is not complete, it has a note.
func messageOf(m reports.Message, room *int) (shown reports.Message, note string) {
	shown = scrubbed(reports.Message{Headers: m.Headers}, 1000)
	shown.Body = safe.Visible(safe.Prefix(m.Body, maxShownBody))
	needed := len(shown.Body)
	for _, h := range shown.SortedHeaders() {
		needed += len(h[0]) + len(h[1])
	}
	if needed > *room {
		return reports.Message{}, "not in this page, to keep it small: see " + reports.ExchangesFile
	}
	*room -= needed
	if whole := m.FullSize(); whole > maxShownBody {
		note = "cut: the body has " + reports.Count(whole, "byte")
	}
	return shown, note
}

// clean returns a text of the target on at most limit bytes, without invisible characters.
func clean(text string, limit int) string { return safe.Visible(safe.Cut(text, limit)) }

// short returns the path of an address of the target, with short ids.
func (p *page) short(address string) string {
	return clean(safe.ShortIDs(cmp.Or(p.Result.Target.PathOf(address), address)), 500)
}

// packed returns a value as JSON, compressed with gzip and in base64: the exchanges of a test run have ten megabytes, most
// of which repeat. Browsers decompress it without any network.
func packed(value any) (template.HTML, error) {
	var text strings.Builder
	encoder := base64.NewEncoder(base64.StdEncoding, &text)
	compressor := gzip.NewWriter(encoder)
	if err := json.NewEncoder(compressor).Encode(value); err != nil {
		return "", fmt.Errorf("encoding the exchanges for the page: %w", err)
	}
	_ = compressor.Close() // a strings.Builder does not fail
	_ = encoder.Close()
	return template.HTML(text.String()), nil //nolint:gosec // base64 has no markup
}

// line is one line about an exchange.
type line struct {
	ID           int
	Method, Path string
	Status       int
	Class        string
	Problems     int
}

func (p *page) line(x reports.Exchange) line {
	class := fmt.Sprintf("s%d", x.Status/100)
	if len(x.Problems) > 0 {
		class += " odd"
	}
	return line{ID: x.ID, Method: clean(x.Method, 100), Path: p.short(x.URL), Status: x.Status, Class: class, Problems: len(x.Problems)}
}
