package safe

import "strings"

// ShellWord makes one word of s for a POSIX shell, in which nothing is expanded. A NUL character cannot be in a word.
func ShellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
