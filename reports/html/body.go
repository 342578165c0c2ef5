package html

import (
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of a body that is shown pretty: a page full of one list hides the place that matters.
const (
	maxPretty = 24 << 10 // bytes of text
	around    = 3 << 10  // bytes of text before and after the place of a finding, where the text is longer
	maxNested = 60       // levels; more would be indentation and nothing else
)

// body is a body made ready to be shown: HTML with the place of a finding marked.
type body struct {
	HTML    template.HTML
	Missing string // the pointer, where it leads nowhere
	Note    string // why the text is not the whole body
}

// prettyBody renders a body. In JSON, the value at pointer is marked; where it is not there, the nearest value around
// it is marked, and the pointer is named as missing.
func prettyBody(text, pointer string) body {
	switch {
	case strings.TrimSpace(text) == "":
		return body{Note: "no body"}
	case !json.Valid([]byte(text)):
		plain := template.HTML(escape(safe.Cut(text, maxPretty))) //nolint:gosec // escaped
		return body{HTML: plain, Note: "not valid JSON, or cut"}
	}
	start, end, missing := place(text, pointer)
	b := body{Missing: safe.Visible(safe.Cut(missing, 500))}
	from, to := 0, maxPretty
	if end > 0 && len(text) > 2*around {
		from, to = max(start-around, 0), start+around
	}
	shown := pretty(text, from, to, start, end)
	if b.HTML = template.HTML(shown); from > 0 || to < len(text) || len(shown) > 2*maxPretty { //nolint:gosec // escaped token by token
		b.Note = "cut here; the whole is in result.json"
	}
	return b
}

func escape(s string) string { return template.HTMLEscapeString(safe.Visible(s)) }

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

// jsonToken is a text with the colon that makes it a key, a bracket, a comma, or a literal.
var jsonToken = regexp.MustCompile(`("(?:\\.|[^"\\])*")(\s*:)?|[{}\[\],]|[^\s"{}\[\],]+`)

// pretty writes the tokens of valid JSON between two places with indentation, as they were sent: numbers and escapes
// stay as they are. What starts and ends at the given places is marked. It ends early where the indentation grows too
// large.
func pretty(text string, from, to, start, end int) string {
	var b strings.Builder
	depth, last, marked := 0, "", false
	for _, at := range jsonToken.FindAllStringSubmatchIndex(text, -1) {
		token := text[at[0]:at[1]]
		closing := token == "}" || token == "]"
		if closing {
			depth--
		}
		if at[0] >= from && at[0] < to && b.Len() <= 2*maxPretty {
			opened := last == "{" || last == "["
			if last == "," || opened && !closing || closing && last != "" && !opened {
				b.WriteString("\n" + strings.Repeat("  ", min(depth, maxNested)))
			}
			if at[0] == start && end > 0 {
				b.WriteString("<mark>")
				marked = true
			}
			b.WriteString(coloured(token, text, at))
			if marked && at[1] == end {
				b.WriteString("</mark>")
				marked = false
			}
		}
		if token == "{" || token == "[" {
			depth++
		}
		last = token
	}
	if marked {
		b.WriteString("</mark>")
	}
	return b.String()
}

// coloured is a token in the class that its kind has: a key, a string or another literal.
func coloured(token, text string, at []int) string {
	class := "n"
	switch {
	case len(token) == 1 && strings.Contains("{}[],", token):
		return token
	case at[4] >= 0:
		return fmt.Sprintf(`<span class="k">%s</span>: `, escape(safe.Cut(text[at[2]:at[3]], 4000)))
	case at[2] >= 0:
		class = "s"
	}
	return fmt.Sprintf(`<span class="%s">%s</span>`, class, escape(safe.Cut(token, 4000)))
}
