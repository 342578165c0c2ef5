package html

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/agentconform/agentconform/reports/safe"
)

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

// prettyJSON sorts the members of objects, so that their order makes no difference. What is nested so deep that it grows
// to more than a screen or two of indentation is no better pretty.
func prettyJSON(text string) (string, bool) {
	var value any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if !json.Valid([]byte(text)) || dec.Decode(&value) != nil {
		return "", false
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(value) != nil || b.Len() > maxPretty {
		return "", false
	}
	// Decoding turns escapes into the characters that they hide.
	return safe.Visible(strings.TrimSuffix(b.String(), "\n")), true
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
