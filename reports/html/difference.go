package html

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// comparison is what was expected and what was seen, one line for each part of a message list or of JSON where both are
// such, and how they differ.
type comparison struct {
	Expected, Actual string
	Diff             []overview.DiffLine // nil where the two have no line in common
}

func compare(expected, actual string) comparison {
	e, isList := inLines(expected)
	a, isListToo := inLines(actual)
	if !isList || !isListToo {
		e, a = expected, actual
	}
	return comparison{e, a, overview.Difference(e, a)}
}

// messageList is how the suite shows messages: human "a"; ai "b"; and 3 more.
var (
	messageList = regexp.MustCompile(`^[\w()][\w ()-]* "(?:[^"\\]|\\.)*"(?:; (?:[\w()][\w ()-]* "(?:[^"\\]|\\.)*"|and \d+ more))*$`)
	nextMessage = regexp.MustCompile(`("(?:[^"\\]|\\.)*"); `)
)

// inLines spreads a list of messages or a JSON document over lines; a few words may stand before the JSON.
func inLines(text string) (string, bool) {
	if messageList.MatchString(text) {
		return nextMessage.ReplaceAllString(text, "$1\n"), true
	}
	at := strings.IndexAny(text, "{[")
	if at < 0 || strings.Contains(text[:at], "\n") {
		return text, false
	}
	pretty, ok := prettyJSON(text[at:])
	if !ok {
		return text, false
	}
	if words := strings.TrimSpace(text[:at]); words != "" {
		pretty = words + "\n" + pretty
	}
	return pretty, true
}

// prettyJSON sorts the members of objects, so that their order makes no difference.
func prettyJSON(text string) (string, bool) {
	var value any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if !json.Valid([]byte(text)) || depth(text) > maxNested || dec.Decode(&value) != nil {
		return "", false
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(value) != nil {
		return "", false
	}
	// Decoding turns escapes into the characters that they hide.
	return safe.Visible(strings.TrimSuffix(b.String(), "\n")), true
}

// depth is how deep a JSON document is nested: indentation grows with its square.
func depth(text string) int {
	dec := json.NewDecoder(strings.NewReader(text))
	now, deepest := 0, 0
	for {
		token, err := dec.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			now++
			deepest = max(deepest, now)
		case json.Delim('}'), json.Delim(']'):
			now--
		}
	}
}
