package html

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of a body that is shown pretty: a page full of one list hides the place that matters.
const (
	maxPretty = 24 << 10 // bytes of text
	around    = 3 << 10  // bytes of text before and after the beginning of the place of a finding
	maxNested = 60       // levels; more would be indentation and nothing else
)

// body is a body made ready to be shown, with the place of a finding apart.
type body struct {
	Before, Marked, After string
	Missing               string // the pointer, where it leads nowhere
	Note                  string // why the text is not the whole body
}

// Text tells whether there is text to show.
func (b body) Text() bool { return b.Before+b.Marked+b.After != "" }

// prettyBody makes a body ready. In JSON, the value at pointer is marked; where it is not there, the nearest value around
// it is marked, and the pointer is named as missing.
func prettyBody(text, pointer string) body {
	switch {
	case strings.TrimSpace(text) == "":
		return body{Note: "no body"}
	case !json.Valid([]byte(text)):
		return body{Before: safe.Visible(safe.Cut(text, maxPretty)), Note: "not valid JSON, or cut"}
	}
	text = indented(text)
	start, end, missing := place(text, pointer)
	from, to := 0, min(len(text), maxPretty)
	if end > 0 && len(text) > 2*around {
		from, to = strings.LastIndex(text[:max(start-around, 0)], "\n")+1, min(len(text), start+around)
	}
	end = min(end, to)
	b := body{
		Before: safe.Visible(text[from:start]), Marked: safe.Visible(text[start:end]), After: safe.Visible(text[end:to]),
		Missing: safe.Visible(safe.Cut(missing, 500)),
	}
	if from > 0 || to < len(text) {
		b.Note = "cut here; the whole is in result.json"
	}
	return b
}

// indented writes valid JSON with a line for each value. Numbers and escapes stay as they were sent.
func indented(text string) string {
	var lines bytes.Buffer
	_ = json.Indent(&lines, []byte(text), "", "") // it is valid
	var b strings.Builder
	depth := 0
	for line := range strings.Lines(lines.String()) {
		if strings.ContainsAny(line[:1], "]}") {
			depth--
		}
		b.WriteString(strings.Repeat("  ", min(depth, maxNested)) + line)
		if opens := strings.TrimSuffix(line, "\n"); strings.HasSuffix(opens, "[") || strings.HasSuffix(opens, "{") {
			depth++
		}
	}
	return b.String()
}

// place finds the value at a JSON pointer (RFC 6901), or the nearest one around it: where it starts and ends in the
// text; zeros for the whole of it. missing is the pointer where it leads nowhere.
func place(text, pointer string) (start, end int, missing string) {
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, t := range tokens {
		tokens[i] = gjson.Escape(strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~"))
	}
	for n := len(tokens); n > 0 && strings.HasPrefix(pointer, "/"); n-- {
		if value := gjson.Get(text, strings.Join(tokens[:n], ".")); value.Exists() && value.Index > 0 {
			return value.Index, value.Index + len(value.Raw), missing
		}
		missing = pointer
	}
	return 0, 0, missing
}
