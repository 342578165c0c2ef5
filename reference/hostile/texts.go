package hostile

import (
	"net/http"
	"strings"

	"github.com/agentconform/agentconform/reference/deviate"
)

// script runs where a page takes it for its own.
const script = `</script><script>alert("hostile")</script><img src=x onerror=alert("hostile")>`

// hostileTexts are texts that do harm where they are shown as they are, by name.
var hostileTexts = map[string]string{
	"terminal":          "\x1b[2J\x1b[31mred\x1b]0;title\x07\u009b5m\rback\x08\x7f",
	"terminal-link":     "\x1b]8;;http://evil.example\x07click\x1b]8;;\x07 \x1b]52;c;aGk=\x07",
	"script":            script,
	"github-commands":   "\n::set-output name=x::y\n::error::x\n::add-mask::a\n::stop-commands::t",
	"azure-commands":    "\n##vso[task.setvariable variable=x]y\n##[error]x\n##[section]x",
	"teamcity-commands": "\n##teamcity[buildStatus status='SUCCESS']\n%0A::error::x",
	"right-to-left":     "user\u202e\u2066 }admin\u2069 \u200f\u200b\u00ad",
	"zero-bytes":        "a\x00b\x00\x01\x02",
	"markdown":          "``` \n# title\n| a | b |\n[x](javascript:alert(7)) ![y](http://127.0.0.1:1/z) @all <!-- #1",
	"shell":             "'; touch /tmp/hostile-was-here; $(touch /tmp/hostile-was-here) `touch /tmp/hostile-was-here` \\",
	"names-of-secrets":  "$AGENTCONFORM_CREDENTIALS_API_KEY ${AGENTCONFORM_CREDENTIALS_API_KEY} {{.}} ${7*7}",
	"line-separators":   "one\r\ntwo\u2028three\u2029four\u0085five\vsix\fseven",
	"long":              strings.Repeat("0123456789abcdef", 1<<16),
	"yaml":              "- !!python/object:x\n: {a: b}\n--- \" ]]> <![CDATA[",
	"formats":           "%s%n%!d(MISSING) {0} %(x)s \\u0000 \\x1b[0m",
}

// texts has each text in the values that findings quote.
func texts() []Mode {
	var all []Mode
	for name, text := range hostileTexts {
		all = append(all, Mode{
			Name: "text-" + name, Does: "has it as status, message and detail", Verdict: NonConformant,
			Layer: both(rows(func(_ int, row map[string]any) { row["status"] = text }), both(
				changed("get-state", func(_ *http.Request, a *deviate.Answer) {
					edit(a, func(o map[string]any) {
						o["values"] = map[string]any{"messages": []any{map[string]any{"type": text, "content": text}}, text: text}
					})
				}),
				always(changing(func(_ *http.Request, a *deviate.Answer) {
					if object := a.Object(); object != nil && a.Status >= 400 {
						object["detail"] = text
						a.Status = 422
						a.Body = encoded(object)
					}
				})))),
		})
	}
	return all
}
