package script_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/script"
)

// inert is what a shell takes as it is: quoted texts, and comments outside of these.
var inert = regexp.MustCompile(`(?m)'[^']*'|\\'|^#.*$`)

// harmless are the lines that are left: our own words, names of variables, and numbers.
var harmless = regexp.MustCompile(`^(` + strings.Join([]string{
	`wait( "\$sent\d+")?`, `take id\d+ \d+ \w+ \d+`, `sent\d+=\$!`, `show \d+`,
	`(send \d+|again \d+ \d+ \d+ [a-zA-Z0-9_: ]*--) --max-time \d+( -X [A-Z]+| -H| --data-raw|"\$id\d+"|"\$run"|"\$AGENTCONFORM_[A-Z0-9_]+"|"\$\{AGENTCONFORM_[A-Z0-9_]+(~~|%\?)?\}"|` +
		`"\$\(json "\$\{?AGENTCONFORM_[A-Z0-9_]+(~~|%\?)?\}?"\)"| )*( &)?`,
}, "|") + `)?$`)

// FuzzWrite: a shell runs nothing of a result but our own lines.
func FuzzWrite(f *testing.F) {
	create := `{"name":"agentconform-old-d","secrets":[{"name":"n","value":"$AGENTCONFORM_S"}]}`
	f.Add("POST", "/v2/deployments?a='x", create, "X-Api-Key", "$AGENTCONFORM_K", `{"id":"d-1","status":"DEPLOYED"}`, "/v2/deployments/d-1", "old", uint16(200))
	f.Add("GET", "/$(touch x)", "`touch x`", "A", "'; touch x; '", `{"id":"'; touch x\n","a_id":12,"status":"BUILDING"}`, "/12/$HOME", "a\nb", uint16(0))
	f.Add("GET", "/\u2028\nrm -rf", "${AGENTCONFORM_S~~}", "X-Api-Key", "${AGENTCONFORM_S%?}", `{"status":"a:b c -- $(x)"}`, "\r\n", "run-1", uint16(429))
	f.Fuzz(func(t *testing.T, method, path, body, name, value, answer, next, run string, status uint16) {
		if !regexp.MustCompile(`^[A-Z]+$`).MatchString(method) {
			return // the client sends none
		}
		first := exchange(method, path, body, int(status), answer)
		first.Request.Headers = map[string][]string{name: {value}}
		first.Request.Secrets = []reports.SecretPlace{{Header: name}, {Pointer: "/secrets/0/value"}}
		r, finding := chainOf("http://target.example", first, exchange("GET", next, "", int(status), answer), exchange(method, next, answer, 200, body))
		r.Run.ID, finding.Requirement, finding.Pointer = run, value, path
		var b strings.Builder
		if script.Write(&b, r, finding) != nil {
			return
		}
		_, steps, found := strings.Cut(b.String(), "\n# exchange ")
		require.True(t, found)
		require.NotContains(t, b.String(), "\x00")
		for line := range strings.SplitSeq(inert.ReplaceAllString("# exchange "+steps, ""), "\n") {
			require.Regexp(t, harmless, line, "in\n%s", steps)
		}
	})
}
