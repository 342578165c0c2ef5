package reports_test

import (
	"fmt"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

func TestCauses(t *testing.T) {
	r := &reports.Result{Requirements: []reports.Requirement{
		{ID: "A"}, {ID: "B", ExplainedBy: []string{"A"}}, {ID: "C", ExplainedBy: []string{"B", "D"}}, {ID: "D"},
		{ID: "E", ExplainedBy: []string{"lost"}}, {ID: "F", ExplainedBy: []string{"G"}}, {ID: "G", ExplainedBy: []string{"F"}},
	}}
	causes := map[string][]string{}
	for q := range reports.Each(r.Requirements) {
		q.Verdict = reports.Failed
	}
	for i := range r.Requirements {
		for _, q := range reports.Causes(r, &r.Requirements[i]) {
			causes[r.Requirements[i].ID] = append(causes[r.Requirements[i].ID], q.ID)
		}
	}
	assert.Equal(t, map[string][]string{"A": {"A"}, "B": {"A"}, "C": {"A", "D"}, "D": {"D"}, "E": {"E"},
		"F": {"F"}, "G": {"G"}}, causes, "each member of a cycle explains itself")
}

// TestShellWord compares the words that a shell prints.
func TestShellWord(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	for _, word := range []string{"", "run", "CP-LIST-*", "@must and not @slow", "it's", "$(reboot)", "`x`", "$HOME", "a;b", "~", "a\nb", `\`, `"`, "'", "!x", "#x", "{a,b}"} {
		out, err := exec.CommandContext(t.Context(), shell, "-c", "printf %s. "+reports.ShellWord(word)).Output()
		require.NoError(t, err, word)
		assert.Equal(t, word, strings.TrimSuffix(string(out), "."), word)
	}
	assert.Equal(t, "http://h:1/p", reports.ShellWord("http://h:1/p"), "quotes are added only if necessary")
}

func TestConnectionCurl(t *testing.T) {
	hosts := []string{"agents.example:443", "agents.example:8080"}
	for name, c := range map[string]struct {
		via          *reports.Connection
		url          string
		want, called string
	}{
		"none":                   {nil, "https://agents.example/a", "", "https://agents.example/a"},
		"a private CA":           {&reports.Connection{CA: "my ca.pem"}, "https://agents.example/a", "--cacert 'my ca.pem'", "https://agents.example/a"},
		"no TLS":                 {&reports.Connection{CA: "ca.pem", Insecure: true, Cert: "c", ServerName: "n", Hosts: hosts}, "http://agents.example:8080/a", "", "http://agents.example:8080/a"},
		"insecure":               {&reports.Connection{Insecure: true}, "https://agents.example/a", "--insecure", "https://agents.example/a"},
		"a client certificate":   {&reports.Connection{Cert: "a:b.pem", Key: "k", Hosts: hosts}, "https://Agents.example/a", `--cert 'a\:b.pem' --key k`, "https://Agents.example/a"},
		"at another host":        {&reports.Connection{Cert: "c", Key: "k", ServerName: "n", Hosts: hosts}, "https://other.example/a", "", "https://other.example/a"},
		"another name":           {&reports.Connection{ServerName: "name.example", Hosts: hosts}, "https://agents.example/a?b=c", "-H 'Host: agents.example' --connect-to name.example:443:agents.example:443", "https://name.example:443/a?b=c"},
		"another name, resolved": {&reports.Connection{ServerName: "name.example", Resolve: map[string]string{"agents.example": "::1"}, Hosts: hosts}, "https://agents.example/a", "-H 'Host: agents.example' --connect-to 'name.example:443:[::1]:443' --noproxy name.example", "https://name.example:443/a"},
		"resolved":               {&reports.Connection{Resolve: map[string]string{"agents.example": "::1"}, Proxy: "http://p:1"}, "http://agents.example:8080/a", "--connect-to 'agents.example:8080:[::1]:8080' --noproxy agents.example", "http://agents.example:8080/a"},
		"a proxy":                {&reports.Connection{Proxy: "http://p:1"}, "http://agents.example/a", "--proxy http://p:1", "http://agents.example/a"},
		"a proxy with a secret":  {&reports.Connection{Proxy: reports.ProxyVariable}, "http://agents.example/a", `--proxy "$AGENTCONFORM_PROXY"`, "http://agents.example/a"},
		"a text like the variable": {&reports.Connection{Proxy: reports.ProxyVariable + "$(x)"}, "http://agents.example/a",
			`--proxy '$AGENTCONFORM_PROXY$(x)'`, "http://agents.example/a"},
		"a socket": {&reports.Connection{Proxy: "http://p:1", Sockets: map[string]string{"localhost:80": "/run/a b.sock"}}, "http://localhost/a", "--unix-socket '/run/a b.sock'", "http://localhost/a"},
	} {
		t.Run(name, func(t *testing.T) {
			arguments, called := c.via.Curl(c.url)
			assert.Equal(t, c.want, strings.Join(arguments, " "))
			assert.Equal(t, c.called, called)
		})
	}
}

// word matches a word of a shell without expansions other than the variable of the proxy.
var word = regexp.MustCompile(`^('[^']*'|\\'|[\w./:@%+,=-]|"\$AGENTCONFORM_PROXY")*$`)

// FuzzAddress checks that the arguments of curl are words of a shell, and that only the host of the address changes.
func FuzzAddress(f *testing.F) {
	for _, a := range []string{"http://h", "https://H:1/a?b#c", "http://[::1]:80/", "http://u:p@h/", "//h", "http:/h", "http://h:port/",
		"http://h\n", "https://%41/", "javascript:x"} {
		f.Add(a, "value", "10.0.0.1")
		f.Add(a, "$AGENTCONFORM_PROXY $(touch x)`touch x`'\"\n;", "::1")
	}
	f.Fuzz(func(t *testing.T, address, value, ip string) {
		at := reports.HostPort(address)
		c := &reports.Connection{CA: value, Cert: value, Key: value, ServerName: "name.example", Proxy: value, Hosts: []string{at},
			Resolve: map[string]string{"h": ip}, Sockets: map[string]string{"h:1": value}}
		arguments, called := c.Curl(address)
		for _, a := range arguments {
			if !strings.Contains(a, "\x00") {
				assert.Regexp(t, word, a)
			}
		}
		u, err := url.Parse(address)
		if at == "" || err != nil {
			require.Empty(t, arguments)
		}
		if called != address {
			moved, err := url.Parse(called)
			require.NoError(t, err)
			require.Equal(t, "name.example", moved.Hostname())
			require.Equal(t, u.Path+"?"+u.RawQuery, moved.Path+"?"+moved.RawQuery)
		}
	})
}

func TestEvidenceIsBounded(t *testing.T) {
	body := strings.Repeat("é", reports.MaxBody) // twice the maximum; no rune crosses it
	odd := "x" + body
	headers := map[string][]string{"X-Long": {strings.Repeat("v", 1<<20)}, strings.Repeat("N", 1<<20): {"v"}}
	for i := range 500 {
		headers[fmt.Sprint("X-", i)] = []string{"v"}
	}
	x := reports.Record(nil, reports.Exchange{
		URL:     "/" + strings.Repeat("a", 1<<20),
		Request: reports.Message{Body: odd}, Response: reports.Message{Body: "ok \xff", Headers: headers},
	})[0]
	assert.Len(t, x.Request.Body, reports.MaxBody-1, "cut at a rune boundary")
	assert.True(t, utf8.ValidString(x.Request.Body))
	assert.Equal(t, len(odd), x.Request.Size)
	assert.Len(t, x.Request.SHA256, 64)
	assert.Equal(t, 4, x.Response.Size, "also for a body that is not UTF-8")
	assert.LessOrEqual(t, len(x.URL), 9<<10)
	assert.LessOrEqual(t, len(x.Response.Headers), 202)
	assert.LessOrEqual(t, len(fmt.Sprint(x.Response.Headers)), 20<<10)
}

func TestSetExchanges(t *testing.T) {
	r := reporttest.Faulty()
	shown, err := r.Exchange(r.Findings[0].Exchange)
	require.NoError(t, err)
	order := make([]int, len(r.Exchanges))
	for i := range order {
		order[i] = len(order) - i
	}
	all := r.Exchanges
	r.SetExchanges(order, func(id int) reports.Exchange { return all[id-1] })
	again, err := r.Exchange(r.Findings[0].Exchange)
	require.NoError(t, err)
	assert.Equal(t, shown.URL, again.URL)
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			assert.IsIncreasing(t, append([]int{0}, s.Exchanges...))
		}
	}
}

func TestReplayCommand(t *testing.T) {
	for arguments, want := range map[string]string{ // separated by "|"
		"run|--only|CP-*|--config=v.yaml|--out|o": "agentconform replay 3f2a --config v.yaml --result o/result.json",
		"run|--target|http://h:1/p|--strict":      "agentconform replay 3f2a --target http://h:1/p",
		"run|--config":                            "agentconform replay 3f2a --config FILE",
		"run|--config=a;reboot|--out|$(o)":        "agentconform replay 3f2a --config 'a;reboot' --result '$(o)/result.json'",
		"run|--config|a\x1b[31m":                  "agentconform replay 3f2a --config FILE",
		"run|--strict":                            "agentconform replay 3f2a",
	} {
		r := &reports.Run{Command: "agentconform run --config other.yaml", Arguments: strings.Split(arguments, "|")}
		assert.Equal(t, want, r.ReplayCommand("3f2a"), arguments)
	}
	assert.Equal(t, "agentconform replay '$(reboot)' --config FILE",
		(&reports.Run{}).ReplayCommand("$(reboot)"))
	within := &reports.Run{GoTest: "TestBoth/first"}
	assert.Equal(t, "go test -run '^TestBoth$/^first$/^CP-LIST-3$'", within.ReplayCommand("CP-LIST-3"))
	assert.Empty(t, within.ReplayCommand("3f2a91c04b7d"), "a finding is not a sub-test")
}
