package html

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"

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
	var value any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil || !json.Valid([]byte(text)) {
		return plainBody(text, "not valid JSON, or cut")
	}
	tokens := pointerTokens(pointer)
	found := resolve(value, tokens)
	p := &jsonPrinter{src: text, target: tokens[:found]}
	if len(p.target) == 0 {
		p.target = nil // the whole body needs no mark
	}
	p.value(0, 0)
	b := body{HTML: template.HTML(p.out.String())} //nolint:gosec // escaped piece by piece in write
	if found < len(tokens) {
		b.Missing = safe.Visible(safe.Cut(pointer, 500))
	}
	if p.full() {
		b.Note = "cut here; the whole is in result.json"
	}
	return b
}

func plainBody(text, note string) body {
	return body{HTML: template.HTML(escape(safe.Cut(text, maxPretty))), Note: note} //nolint:gosec // escaped
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
func resolve(value any, tokens []string) int {
	for i, t := range tokens {
		switch v := value.(type) {
		case map[string]any:
			member, ok := v[t]
			if !ok {
				return i
			}
			value = member
		case []any:
			at, err := strconv.Atoi(t)
			if err != nil || at < 0 || at >= len(v) {
				return i
			}
			value = v[at]
		default:
			return i
		}
	}
	return len(tokens)
}

// jsonPrinter writes valid JSON with indentation, as it was sent: numbers and escapes stay as they are.
type jsonPrinter struct {
	src    string
	pos    int
	target []string
	out    strings.Builder
}

func (p *jsonPrinter) full() bool { return p.out.Len() > maxPretty*2 } // markup counts too

// value prints the value at pos. matched counts the tokens of the target that lead here, or is -1 off its way.
func (p *jsonPrinter) value(depth, matched int) {
	marked := p.target != nil && matched == len(p.target)
	if marked {
		p.out.WriteString("<mark>")
	}
	p.space()
	switch c := p.src[p.pos]; {
	case c == '{':
		p.container(depth, matched, '}')
	case c == '[':
		p.container(depth, matched, ']')
	case c == '"':
		p.write("s", p.stringLiteral())
	default:
		start := p.pos
		for p.pos < len(p.src) && !strings.ContainsRune(",]} \t\r\n", rune(p.src[p.pos])) {
			p.pos++
		}
		p.write("n", p.src[start:p.pos])
	}
	if marked {
		p.out.WriteString("</mark>")
	}
}

func (p *jsonPrinter) container(depth, matched int, end byte) {
	p.out.WriteByte(p.src[p.pos])
	p.pos++
	hidden, items := 0, 0
	for p.space(); p.src[p.pos] != end; p.space() {
		if p.src[p.pos] == ',' {
			p.pos++
			p.space()
		}
		key, next := "", -1
		if end == '}' {
			key = p.stringLiteral()
			p.space()
			p.pos++ // the colon
			p.space()
		}
		if p.onWay(matched, key, items) {
			next = matched + 1
		}
		if next < 0 && (end == ']' && items >= fewItems || depth >= maxNested || p.full()) {
			p.skip()
			hidden++
		} else {
			p.item(depth, items-hidden, key, next)
		}
		items++
	}
	p.pos++
	if hidden > 0 {
		p.line(depth+1, items > hidden)
		fmt.Fprintf(&p.out, `<span class="c">… %d more</span>`, hidden)
	}
	if items > 0 {
		p.line(depth, false)
	}
	p.out.WriteByte(end)
}

func (p *jsonPrinter) item(depth, shown int, key string, next int) {
	p.line(depth+1, shown > 0)
	if key != "" {
		p.write("k", key)
		p.out.WriteString(": ")
	}
	p.value(depth+1, next)
}

// onWay tells whether a member or an item is the next one on the way to the target.
func (p *jsonPrinter) onWay(matched int, key string, index int) bool {
	if matched < 0 || matched >= len(p.target) {
		return false
	}
	name := strconv.Itoa(index)
	if key != "" && json.Unmarshal([]byte(key), &name) != nil {
		return false
	}
	return name == p.target[matched]
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

func (p *jsonPrinter) space() {
	for p.pos < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *jsonPrinter) stringLiteral() string {
	start := p.pos
	for p.pos++; p.src[p.pos] != '"'; p.pos++ {
		if p.src[p.pos] == '\\' {
			p.pos++
		}
	}
	p.pos++
	return p.src[start:p.pos]
}

// skip passes over a value without printing it.
func (p *jsonPrinter) skip() {
	var raw json.RawMessage
	dec := json.NewDecoder(strings.NewReader(p.src[p.pos:]))
	if dec.Decode(&raw) != nil { // cannot be: the whole is valid
		p.pos = len(p.src) - 1
		return
	}
	p.pos += int(dec.InputOffset())
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
