package html

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Limits of an indented body.
const (
	maxPretty = 24 << 10 // bytes of text
	around    = 3 << 10  // bytes of text before and after the value of a finding
	maxNested = 60       // levels of indentation
)

// body is an indented body, split at the value of a finding.
type body struct {
	Before, Marked, After string
	Missing               string // the pointer, if it points to no value
	Note                  string // set if the text is not the whole body
}

// HasText reports whether the body has text.
func (b body) HasText() bool { return b.Before+b.Marked+b.After != "" }

// newBody returns an indented body in which the value at pointer is marked. If there is no such value, it marks the
// nearest enclosing value, and Missing is the pointer.
func newBody(text, pointer string) body {
	switch {
	case strings.TrimSpace(text) == "":
		return body{Note: "no body"}
	case !json.Valid([]byte(text)):
		return body{Before: safe.Visible(safe.Cut(text, maxPretty)), Note: "not valid JSON, or cut"}
	}
	text = indented(text)
	start, end, missing := find(text, pointer)
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
		b.Note = "cut: result.json has the whole body"
	}
	return b
}

// indented returns valid JSON with a line for each value. It does not change numbers and escapes.
func indented(text string) string {
	var lines bytes.Buffer
	_ = json.Indent(&lines, []byte(text), "", "") // the text is valid
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

// find returns the offsets of the value at a JSON pointer (RFC 6901). If there is no such value, it returns those of the
// nearest enclosing value, or zeros for the whole text, and the pointer as missing.
func find(text, pointer string) (start, end int, missing string) {
	path := reports.JSONPath(pointer)
	for n := len(path); n > 0 && strings.HasPrefix(pointer, "/"); n-- {
		if value := gjson.Get(text, strings.Join(path[:n], ".")); value.Exists() && value.Index > 0 {
			return value.Index, value.Index + len(value.Raw), missing
		}
		missing = pointer
	}
	return 0, 0, missing
}

// comparison is an expected and an actual text, and their difference. If both contain JSON, the JSON is indented.
type comparison struct {
	Expected, Actual string
	Diff             []string // lines that begin with "-", "+" or a space; nil if the texts have no common line
}

func compare(expected, actual string) comparison {
	e, expectedOK := spread(expected)
	a, actualOK := spread(actual)
	if !expectedOK || !actualOK {
		e, a = expected, actual
	}
	return comparison{e, a, difference(e, a)}
}

// spread indents the JSON document in a text. Other words may precede it.
func spread(text string) (string, bool) {
	words, document, isLine := strings.Cut(text, "\n")
	if at := strings.IndexAny(text, "{["); !isLine && at >= 0 {
		words, document = text[:at], text[at:]
	}
	pretty, ok := prettyJSON(document)
	if !ok {
		return text, false
	}
	words = strings.TrimSpace(words)
	if words != "" {
		pretty = words + "\n" + pretty
	}
	return pretty, true
}

// prettyJSON returns indented JSON with sorted members, so that their order does not matter. It refuses JSON that would
// become too long.
func prettyJSON(text string) (string, bool) {
	var value any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if !json.Valid([]byte(text)) || dec.Decode(&value) != nil {
		return "", false
	}
	doc, err := reports.Encode(value, "  ")
	if err != nil || len(doc) > maxPretty {
		return "", false
	}
	// Decoding has replaced escapes by invisible characters.
	return safe.Visible(strings.TrimSuffix(string(doc), "\n")), true
}

// difference returns the lines of a unified diff. It returns nil if the texts have no common line, because they are then
// easier to read next to each other.
func difference(expected, actual string) (lines []string) {
	lined := func(s string) []byte { return []byte(strings.TrimRight(s, "\n") + "\n") }
	unified := string(diff.Diff("expected", lined(expected), "actual", lined(actual)))
	shared := false
	for i, line := range strings.Split(strings.TrimSuffix(unified, "\n"), "\n") {
		switch {
		case i < 3: // the names of the texts
		case strings.HasPrefix(line, "@@"):
			if lines != nil {
				lines = append(lines, " …")
			}
		default:
			lines = append(lines, line)
			shared = shared || line[0] == ' ' && strings.TrimSpace(line) != ""
		}
	}
	if !shared {
		return nil
	}
	return lines
}
