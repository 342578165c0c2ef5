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

// Limits of the exchanges in the page. result.json and result.har contain the rest.
const (
	maxShownBody = 16 << 10 // bytes of each body
	maxEvidence  = 12 << 20 // bytes of all bodies and headers, before compression
)

// record is an exchange for the script of the page. Its JSON names are short because there are many records.
type record struct {
	ID        int      `json:"i"`
	Method    string   `json:"m"`
	Path      string   `json:"a"` // with short ids
	URL       string   `json:"u"`
	Status    int      `json:"s"`
	MS        float64  `json:"d"`
	AtMS      int64    `json:"t"`
	Scenario  string   `json:"b"`
	Operation string   `json:"o,omitempty"`
	Problems  []string `json:"p,omitempty"`
	Error     string   `json:"e,omitempty"`
	Request   message  `json:"q"`
	Response  message  `json:"r"`
	Curl      string   `json:"c,omitempty"`
	Repeated  string   `json:"w,omitempty"` // set if the request was sent twice
}

// message is a request or a response.
type message struct {
	Headers [][2]string `json:"h,omitempty"`
	Body    string      `json:"b,omitempty"`
	Note    string      `json:"n,omitempty"`
}

// records returns all exchanges. If their bodies are too large for the page, those of the findings come first.
func (p *page) records() []record {
	led := map[int]bool{} // ids of the exchanges that led to a finding
	for _, f := range p.recorded.Findings {
		led[f.Exchange] = true
		for _, link := range f.Exchanges {
			led[link.Exchange] = true
		}
	}
	room := maxEvidence
	records := make([]record, len(p.recorded.Exchanges))
	for _, turn := range []bool{true, false} {
		for i, x := range p.recorded.Exchanges {
			if led[x.ID] == turn {
				records[i] = p.record(x, &room)
			}
		}
	}
	return records
}

// record returns an exchange, and takes the space of its bodies and headers from room.
func (p *page) record(x reports.Exchange, room *int) record {
	r := record{
		ID: x.ID, Method: clean(x.Method, 100), Path: p.short(x.URL), URL: clean(x.URL, 4000), Status: x.Status, MS: x.MS,
		AtMS: x.AtMS, Scenario: clean(x.Scenario, 500), Operation: clean(x.Operation, 100), Error: clean(x.Error, 4000),
		Curl: clean(x.Curl, 4000),
	}
	for _, problem := range x.Problems[:min(len(x.Problems), 20)] {
		r.Problems = append(r.Problems, clean(problem, 500))
	}
	if x.Repeated {
		r.Repeated = reports.RepeatedNote
	}
	r.Request, r.Response = messageOf(x.Request, room), messageOf(x.Response, room)
	return r
}

func messageOf(m reports.Message, room *int) message {
	shown := message{Body: safe.Visible(safe.Prefix(m.Body, maxShownBody))}
	needed := len(shown.Body)
	for _, h := range m.SortedHeaders() {
		name, value := clean(h[0], 1000), clean(h[1], 1000)
		shown.Headers = append(shown.Headers, [2]string{name, value})
		needed += len(name) + len(value)
	}
	if needed > *room {
		return message{Note: "not in this page, to keep it small: see result.json"}
	}
	*room -= needed
	if whole := m.FullSize(); whole > maxShownBody {
		shown.Note = "cut: the body has " + reports.Count(whole, "byte")
	}
	return shown
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
	if err := compressor.Close(); err != nil {
		return "", err
	}
	if err := encoder.Close(); err != nil {
		return "", err
	}
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
