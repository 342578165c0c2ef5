package reports

import (
	"regexp"
	"strings"
)

// bare is a word that a POSIX shell takes as it is.
var bare = regexp.MustCompile(`^[\w./:@%+,=-]+$`)

// ShellWord returns the text as one word for a POSIX shell, in which nothing is expanded: in quotes where it needs them.
func ShellWord(s string) string {
	if bare.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
