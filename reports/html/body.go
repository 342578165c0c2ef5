package html

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of a body that is shown pretty: a page full of one list hides the place that matters.
const (
	maxPretty = 24 << 10 // bytes of text
	maxNested = 60       // levels; more would be indentation and nothing else
	fewItems  = 8        // a list of more items is shown by its first ones and the one that matters
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
	if strings.TrimSpace(text) == "" {
		return body{Note: "no body"}
	}
	if !json.Valid([]byte(text)) {
		plain := template.HTML(escape(safe.Cut(text, maxPretty))) //nolint:gosec // escaped
		return body{HTML: plain, Note: "not valid JSON, or cut"}
	}
	value, tokens := gjson.Parse(text), pointerTokens(pointer)
	found := resolve(value, tokens)
	p := &jsonPrinter{target: tokens[:found]}
	p.value(value, 0, 0)
	b := body{HTML: template.HTML(p.out.String())} //nolint:gosec // escaped piece by piece in write
	if found < len(tokens) {
		b.Missing = safe.Visible(safe.Cut(pointer, 500))
	}
	if p.full() {
		b.Note = "cut here; the whole is in result.json"
	}
	return b
}

func escape(s string) string { return template.HTMLEscapeString(safe.Visible(s)) }

// pointerTokens splits a JSON pointer (RFC 6901).
func pointerTokens(pointer string) []string {
	if !strings.HasPrefix(pointer, "/") {
		return nil
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, t := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens
}

// resolve tells how many tokens of a pointer lead to a value.
func resolve(value gjson.Result, tokens []string) int {
	for i, token := range tokens {
		found := false
		eachMember(value, func(name, _ string, member gjson.Result) bool {
			if found = name == token; found {
				value = member
			}
			return !found
		})
		if !found {
			return i
		}
	}
	return len(tokens)
}

// eachMember visits the members of an object or a list, with their names in a pointer, and their keys as they were sent.
func eachMember(value gjson.Result, visit func(name, key string, member gjson.Result) bool) {
	if !value.IsObject() && !value.IsArray() {
		return
	}
	n := 0
	value.ForEach(func(key, member gjson.Result) bool {
		name, sent := strconv.Itoa(n), ""
		if value.IsObject() {
			name, sent = key.String(), key.Raw
		}
		n++
		return visit(name, sent, member)
	})
}

// jsonPrinter writes valid JSON with indentation, as it was sent: numbers and escapes stay as they are.
type jsonPrinter struct {
	target []string // tokens of the pointer to the value that is marked; none: the whole body, which needs no mark
	out    strings.Builder
}

func (p *jsonPrinter) full() bool { return p.out.Len() > maxPretty*2 } // markup counts too

// value prints a value. matched counts the tokens of the target that lead here, or is -1 off its way.
func (p *jsonPrinter) value(v gjson.Result, depth, matched int) {
	marked := len(p.target) > 0 && matched == len(p.target)
	if marked {
		p.out.WriteString("<mark>")
	}
	switch {
	case v.IsObject():
		p.container(v, depth, matched, "{", "}")
	case v.IsArray():
		p.container(v, depth, matched, "[", "]")
	case v.Type == gjson.String:
		p.write("s", v.Raw)
	default:
		p.write("n", v.Raw)
	}
	if marked {
		p.out.WriteString("</mark>")
	}
}

func (p *jsonPrinter) container(v gjson.Result, depth, matched int, begin, end string) {
	p.out.WriteString(begin)
	hidden, shown := 0, 0
	eachMember(v, func(name, key string, member gjson.Result) bool {
		next := -1
		if matched >= 0 && matched < len(p.target) && name == p.target[matched] {
			next = matched + 1
		}
		if next < 0 && (key == "" && shown+hidden >= fewItems || depth >= maxNested || p.full()) {
			hidden++
			return true
		}
		p.line(depth+1, shown > 0)
		if key != "" {
			p.write("k", key)
			p.out.WriteString(": ")
		}
		p.value(member, depth+1, next)
		shown++
		return true
	})
	if hidden > 0 {
		p.line(depth+1, shown > 0)
		fmt.Fprintf(&p.out, `<span class="c">… %d more</span>`, hidden)
	}
	if shown+hidden > 0 {
		p.line(depth, false)
	}
	p.out.WriteString(end)
}

func (p *jsonPrinter) line(depth int, comma bool) {
	if comma {
		p.out.WriteByte(',')
	}
	p.out.WriteString("\n" + strings.Repeat("  ", depth))
}

func (p *jsonPrinter) write(class, text string) {
	fmt.Fprintf(&p.out, `<span class="%s">%s</span>`, class, escape(safe.Cut(text, 4000)))
}

// sortedHeaders lists headers in the order in which every reader expects them: by name.
func sortedHeaders(h map[string][]string) [][2]string {
	var all [][2]string
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			all = append(all, [2]string{name, v})
		}
	}
	return all
}
