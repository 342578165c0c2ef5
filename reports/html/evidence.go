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

// prettyBody makes a body ready. In JSON, the value at pointer is marked; where it is not there, the nearest value
// around it is marked, and the pointer is named as missing.
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

// comparison is what was expected and what was seen, one line for each part of JSON where both are such, and how they
// differ.
type comparison struct {
	Expected, Actual string
	Diff             []string // lines that begin with "-", "+" or a blank; nil where the two have no line in common
}

func compare(expected, actual string) comparison {
	e, isList := inLines(expected)
	a, isListToo := inLines(actual)
	if !isList || !isListToo {
		e, a = expected, actual
	}
	return comparison{e, a, difference(e, a)}
}

// inLines spreads a JSON document over lines. A few words may stand before it, or a line of them.
func inLines(text string) (string, bool) {
	words, document, isLine := strings.Cut(text, "\n")
	if at := strings.IndexAny(text, "{["); !isLine && at >= 0 {
		words, document = text[:at], text[at:]
	}
	pretty, ok := prettyJSON(document)
	if !ok {
		return text, false
	}
	if words = strings.TrimSpace(words); words != "" {
		pretty = words + "\n" + pretty
	}
	return pretty, true
}

// prettyJSON sorts the members of objects, so that their order makes no difference. What is nested so deep that it
// grows to more than a screen or two of indentation is no better pretty.
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
	// Decoding turns escapes into the characters that they hide.
	return safe.Visible(strings.TrimSuffix(string(doc), "\n")), true
}

// difference tells line by line how an actual text differs from the expected one. It is nil where the two have no line
// in common: then it shows nothing that the texts one below the other would not show better.
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
