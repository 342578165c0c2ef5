package client

import (
	"fmt"
	"slices"
	"strings"
)

// Curl returns a shell line that sends the request again. Secrets appear as the variables that hold them.
func (r *Redactor) Curl(method, url string, header map[string][]string, body string) string {
	var b strings.Builder
	b.WriteString("curl -sS -i")
	if method != "GET" {
		b.WriteString(" -X " + method)
	}
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range header[name] {
			if value == "" { // "Name:" would make curl leave the header out
				fmt.Fprintf(&b, " -H %s", r.quote(name+";"))
				continue
			}
			fmt.Fprintf(&b, " -H %s", r.quote(name+": "+value))
		}
	}
	if body != "" {
		fmt.Fprintf(&b, " --data-raw %s", r.quote(body))
	}
	fmt.Fprintf(&b, " %s", r.quote(url))
	return b.String()
}

// quote makes one word of the text for a POSIX shell, in which only the names of secrets are expanded.
func (r *Redactor) quote(s string) string {
	s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	for _, name := range r.names {
		s = strings.ReplaceAll(s, name, `'"`+name+`"'`)
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "''"), "''")
}
