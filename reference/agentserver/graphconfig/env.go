package graphconfig

import (
	"fmt"
	"strings"
)

// ParseEnv parses an environment file: lines of NAME=value. Empty lines and lines that start with # are skipped, an
// `export` in front is ignored, a value may be in single quotes (taken as it is) or double quotes (with \n, \", \\ ...).
func ParseEnv(src []byte, file string) (map[string]string, error) {
	env := map[string]string{}
	for i, line := range strings.Split(string(src), "\n") {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		pos := Pos{File: file, Line: i + 1, Col: 1}
		name, value, found := strings.Cut(strings.TrimPrefix(trimmed, "export "), "=")
		name = strings.TrimSpace(name)
		if !found || !isName(name) {
			return nil, &Error{pos, "expected NAME=value, or # before a comment"}
		}
		unquoted, err := unquote(strings.TrimSpace(value))
		if err != nil {
			return nil, &Error{pos, fmt.Sprintf("the value of %s cannot be read: %v", name, err)}
		}
		env[name] = unquoted
	}
	return env, nil
}

func unquote(v string) (string, error) {
	if v == "" || v[0] != '"' && v[0] != '\'' {
		if at := strings.Index(v, " #"); at >= 0 {
			v = strings.TrimSpace(v[:at])
		}
		return v, nil
	}
	quote, rest := v[0], v[1:]
	var out strings.Builder
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == quote:
			if tail := strings.TrimSpace(rest[i+1:]); tail != "" && tail[0] != '#' {
				return "", fmt.Errorf("unexpected text after the closing quote")
			}
			return out.String(), nil
		case c == '\\' && quote == '"' && i+1 < len(rest):
			i++
			out.WriteString(unescape(rest[i]))
		default:
			out.WriteByte(c)
		}
	}
	return "", fmt.Errorf("the closing quote is missing")
}

func unescape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	}
	return string(c)
}
