package reports

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/agentconform/agentconform/reports/safe"
)

// WriteJSON writes r as a result file: the content of result.json. Exchanges are one a line; all else is indented. What
// could do harm on a terminal is written as \u escapes. A reader of the file sees [] and {}, never null.
func (r *Result) WriteJSON(w io.Writer) error {
	n := *r
	n.Exchanges = nil
	n = safe.Copy(n, func(text string) string { return safe.Cut(text, MaxBody) }) // texts quote the target, which may have sent megabytes
	n.Schema, n.Exchanges = Schema, nil
	doc, err := encoded(n, "  ")
	if err != nil {
		return fmt.Errorf("encoding the result: %w", err)
	}
	before, after, _ := bytes.Cut(doc, []byte(`"exchanges": null`)) // no text of a target can hold it with these quotation marks
	out := bufio.NewWriterSize(w, 64<<10)                           // what it returns of an error, Flush returns too
	_, _ = fmt.Fprintf(out, `%s"exchanges": [`, before)
	for i, x := range r.Exchanges {
		line, err := encoded(x, "")
		if err != nil {
			return fmt.Errorf("encoding exchange %d: %w", x.ID, err)
		}
		separator := ","
		if i == 0 {
			separator = ""
		}
		_, _ = fmt.Fprintf(out, "%s\n    %s", separator, bytes.TrimSpace(line))
	}
	if len(r.Exchanges) > 0 {
		_, _ = out.WriteString("\n  ")
	}
	_, _ = fmt.Fprintf(out, "]%s", after)
	return out.Flush()
}

// encoded is JSON in which <, > and & stay readable.
func encoded(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(value)
	return safe.JSON(b.Bytes()), err
}
