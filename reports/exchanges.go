package reports

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Exchange is one HTTP request with its response, redacted. If there is no response, Status is 0 and Error is the reason.
type Exchange struct {
	ID        int      `json:"id"`
	Scenario  string   `json:"scenario"` // "uri:line name", or "fixture: ..." for shared fixtures
	Method    string   `json:"method"`
	URL       string   `json:"url"`
	Operation string   `json:"operation,omitempty"` // operation ID of the contract; may be empty
	Request   Message  `json:"request"`
	Status    int      `json:"status"`
	Response  Message  `json:"response"`
	MS        float64  `json:"ms"`
	Error     string   `json:"error,omitempty"`
	AtMS      int64    `json:"at_ms"` // since the start of the test run
	Curl      string   `json:"curl,omitempty"`
	Problems  []string `json:"problems,omitempty"` // violations of the contract
	// Repeated reports that the suite sent the request twice because the server closed an idle connection without a
	// response. The server may have carried out both requests.
	Repeated bool `json:"repeated,omitempty"`
}

// RepeatedNote explains an exchange with a request that was sent twice.
const RepeatedNote = "the suite sent this request twice, because the server closed an idle connection without a " +
	"response; the server may have carried out both requests"

// Message is the request or response of an exchange. If the body was cut because it is too long, Size and SHA256 are
// those of the whole body.
type Message struct {
	Headers map[string][]string `json:"headers"`
	Body    string              `json:"body"`
	Size    int                 `json:"size,omitempty"`
	SHA256  string              `json:"sha256,omitempty"`
	// Secrets are the places of a request at which the suite inserted a secret. Only there a name of a variable stands for
	// its value. At any other place it is text, which may come from the target.
	Secrets []SecretPlace `json:"secrets,omitempty"`
}

// SecretPlace is the place of a secret in a request: a header, or a JSON pointer into the body.
type SecretPlace struct {
	Header  string `json:"header,omitempty"`
	Pointer string `json:"pointer,omitempty"`
}

// ExchangesFile is the name of the file with all exchanges of a test run, in the folder of result.json. It has JSON Lines,
// compressed with gzip: the first line names the test run, and each other line is one exchange.
const ExchangesFile = "exchanges.jsonl.gz"

// exchangesSchema is the name and version of the format of [ExchangesFile].
const exchangesSchema = "agentconform.exchanges/v1"

// exchangesHead is the first line of [ExchangesFile].
type exchangesHead struct {
	Schema string `json:"schema"`
	Run    string `json:"run"` // ID of the test run
}

// WriteExchanges writes all exchanges of r, the content of [ExchangesFile].
func (r *Result) WriteExchanges(w io.Writer) error {
	compressor, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
	if err := WriteEncoded(compressor, exchangesHead{exchangesSchema, r.Run.ID}, ""); err != nil {
		return err
	}
	for _, x := range r.Exchanges {
		if err := WriteEncoded(compressor, x, ""); err != nil {
			return fmt.Errorf("writing exchange %d: %w", x.ID, err)
		}
	}
	return compressor.Close()
}

// readExchanges replaces the exchanges of a result by all exchanges of its test run. They are in [ExchangesFile] in the
// folder of the result file. If there is no such file, the result keeps its own exchanges.
func readExchanges(r *Result, resultFile string) error {
	path := filepath.Join(filepath.Dir(resultFile), ExchangesFile)
	info, err := os.Stat(path) // opening a FIFO would wait for a writer
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the exchanges of a test run: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("reading %s: not a regular file; remove it to use the exchanges in the result file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading the exchanges of a test run: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	all, err := parseExchanges(file, r.Run.ID)
	if err != nil {
		return fmt.Errorf("reading %s: %w; remove it to use the exchanges in the result file", path, err)
	}
	if all != nil {
		r.Exchanges = all
	}
	return nil
}

// parseExchanges returns the exchanges of a test run, or nil if the file is about another test run.
func parseExchanges(from io.Reader, run string) ([]Exchange, error) {
	compressed, err := gzip.NewReader(from)
	if err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	doc, err := io.ReadAll(io.LimitReader(compressed, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is damaged: %w", err)
	case len(doc) > maxFile:
		return nil, fmt.Errorf("it has more than %d bytes without compression", maxFile)
	case countValues(doc) > maxFileValues:
		return nil, fmt.Errorf("it has more than %d values", maxFileValues)
	}
	line, rest, _ := bytes.Cut(doc, []byte("\n"))
	var head exchangesHead
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if head.Schema != exchangesSchema || head.Run != run {
		return nil, nil
	}
	all := []Exchange{}
	for line := range bytes.Lines(rest) {
		var x Exchange
		if err := json.Unmarshal(line, &x); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(all)+2, err)
		}
		if x.ID != len(all)+1 {
			return nil, fmt.Errorf("line %d: the id is %d, it must be %d", len(all)+2, x.ID, len(all)+1)
		}
		all = append(all, x.bounded())
	}
	return all, nil
}

// ExchangesOf returns the ids of the exchanges in findings: those that show the violation or led to it.
func ExchangesOf(findings []Finding) map[int]bool {
	ids := map[int]bool{}
	for _, f := range findings {
		ids[f.Exchange] = true
		for _, link := range f.Exchanges {
			ids[link.Exchange] = true
		}
	}
	return ids
}

// named returns the exchanges that findings, notes, and blocked or inconclusive scenarios refer to.
func (r *Result) named() []Exchange {
	ids := ExchangesOf(r.Findings)
	if r.NotScored != nil {
		maps.Copy(ids, ExchangesOf(r.NotScored.Findings))
	}
	for _, note := range r.Notes {
		ids[note.Exchange] = true
	}
	for q := range Each(r.Requirements) {
		for s := range Each(q.Scenarios) {
			if s.Verdict != Blocked && s.Verdict != Inconclusive {
				continue
			}
			for _, id := range s.Exchanges {
				ids[id] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(r.Exchanges), func(x Exchange) bool { return !ids[x.ID] })
}
