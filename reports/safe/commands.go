package safe

import (
	"bytes"
	"regexp"
	"strings"
)

// commands finds what continuous integration systems take for a command wherever it is in a line of a log: "##[error]" and
// "##vso[...]" (Azure Pipelines, GitHub Actions), "##teamcity[...]", "section_start:" (GitLab), "travis_fold:".
var commands = regexp.MustCompile(`(?i)(##(?:vso|teamcity)?)(\[)|((?:section_(?:start|end)|travis_(?:fold|time)))(:)`)

// WithoutCommands puts a backslash into what a continuous integration system would take for a command. "::name ...::" is a command of
// GitHub Actions at the beginning of a line; it is broken everywhere, since a line may be wrapped before it.
func WithoutCommands(s string) string {
	if mayCommand(s) {
		s = commands.ReplaceAllString(s, `$1$3\$2$4`)
	}
	if !strings.Contains(s, "::") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.Count(line, "::") > 1 {
			lines[i] = withoutColons(line)
		}
	}
	return strings.Join(lines, "\n")
}

// withoutColons breaks each "::" before a letter.
func withoutColons(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if s[i] == ':' && i+2 < len(s) && s[i+1] == ':' && (s[i+2]|0x20 >= 'a' && s[i+2]|0x20 <= 'z') {
			b.WriteByte('\\')
		}
	}
	return b.String()
}

// mayCommand is the fast way out.
func mayCommand(s string) bool {
	if strings.Contains(s, "##") {
		return true
	}
	for i := strings.IndexByte(s, '_'); i >= 0; {
		if i+5 <= len(s) && (strings.EqualFold(s[i+1:i+4], "end") || strings.EqualFold(s[i+1:i+5], "star") ||
			strings.EqualFold(s[i+1:i+5], "fold") || strings.EqualFold(s[i+1:i+5], "time")) {
			return true
		}
		next := strings.IndexByte(s[i+1:], '_')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// jsonWithoutCommands writes one character of such a command as a \u escape: the document stays the same. A line of JSON never
// begins with "::".
func jsonWithoutCommands(doc []byte) []byte {
	if !bytes.Contains(doc, []byte("##")) {
		return doc
	}
	return jsonCommands.ReplaceAll(doc, []byte(`#\u0023$1`))
}

var jsonCommands = regexp.MustCompile(`(?i)##((?:vso|teamcity)?\[)`)
