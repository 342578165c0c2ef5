package reports

import (
	"cmp"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/agentconform/agentconform/reports/safe"
)

// ProxyVariable replaces the URL of a proxy in reports if the URL contains a user name or password. It is the name of the
// environment variable that contains the URL.
const ProxyVariable = "$AGENTCONFORM_PROXY"

// Connection describes how the test run reached the target: the options that curl needs in addition to the request. Paths
// are relative to the working folder of the test run.
type Connection struct {
	CA         string            `json:"ca,omitempty"`          // PEM file with the certificates of trusted authorities
	Cert       string            `json:"cert,omitempty"`        // PEM file with the client certificate
	Key        string            `json:"key,omitempty"`         // PEM file with the key of Cert; empty: in the file of Cert
	ServerName string            `json:"server_name,omitempty"` // name in the certificate, if it is not the host
	Insecure   bool              `json:"insecure,omitempty"`    // certificates of servers were not verified
	Proxy      string            `json:"proxy,omitempty"`       // URL, or ProxyVariable
	Resolve    map[string]string `json:"resolve,omitempty"`     // IP address by host name, in lower case
	Sockets    map[string]string `json:"sockets,omitempty"`     // path of a Unix domain socket by "host:port"
	// Hosts are the hosts in the configuration, "host:port". Cert and ServerName apply only to these.
	Hosts []string `json:"hosts,omitempty"`
}

// HostPort returns the host of an address in lower case with its port, or "" if the address has no host.
func HostPort(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	case u.Scheme == "https":
		port = "443"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// certEscaper escapes the characters that have a meaning in curl's option --cert.
var certEscaper = strings.NewReplacer(`\`, `\\`, ":", `\:`)

// Curl returns the arguments, quoted for a POSIX shell, with which curl connects to an address in the same way as the
// test run. It also returns the address to call. If c.ServerName is set, it is the host of this address, because curl
// takes the name only from there.
func (c *Connection) Curl(address string) (arguments []string, called string) {
	at := HostPort(address)
	u, err := url.Parse(address)
	if c == nil || at == "" || err != nil {
		return nil, address
	}
	add := func(flag, value string) {
		if value != "" {
			arguments = append(arguments, flag, ShellWord(value))
		}
	}
	host, port, _ := net.SplitHostPort(at)
	name, to := host, at
	named := slices.Contains(c.Hosts, at)
	socket, ip := c.Sockets[at], c.Resolve[host]
	add("--unix-socket", socket)
	if u.Scheme == "https" {
		add("--cacert", c.CA)
		if c.Insecure {
			arguments = append(arguments, "--insecure")
		}
		if named {
			add("--cert", certEscaper.Replace(c.Cert))
			add("--key", c.Key)
		}
		if named && c.ServerName != "" && !strings.EqualFold(c.ServerName, host) {
			name = c.ServerName
			add("-H", "Host: "+u.Host)
			u.Host = net.JoinHostPort(name, port)
			address = u.String()
		}
	}
	if ip != "" {
		to = net.JoinHostPort(ip, port)
	}
	if from := net.JoinHostPort(name, port); from != to && socket == "" {
		add("--connect-to", from+":"+to)
	}
	switch {
	case socket != "":
	case ip != "":
		add("--noproxy", name)
	case c.Proxy == ProxyVariable:
		arguments = append(arguments, "--proxy", `"`+ProxyVariable+`"`)
	default:
		add("--proxy", c.Proxy)
	}
	return arguments, address
}

// bare matches a word that needs no quotes in a POSIX shell.
var bare = regexp.MustCompile(`^[\w./:@%+,=-]+$`)

// ShellWord returns the text as one word for a POSIX shell, without expansion. It adds quotes only if necessary.
func ShellWord(s string) string {
	if bare.MatchString(s) {
		return s
	}
	return safe.ShellWord(s)
}

// Flag returns the value of a flag in the command line of the test run, or "" if it is not set. It ignores values with
// control characters, because they cannot be printed as part of another command.
func (r *Run) Flag(name string) string {
	for i, word := range r.Arguments {
		flag, value, joined := strings.Cut(word, "=")
		if !joined && i+1 < len(r.Arguments) {
			value = r.Arguments[i+1]
		}
		if flag == name && !strings.ContainsFunc(value, unicode.IsControl) {
			return value
		}
	}
	return ""
}

// DefaultOut is the folder of the reports without --out.
const DefaultOut = "agentconform-out"

// Out returns the folder of the reports, or "" if the test run had no command line.
func (r *Run) Out() string {
	if len(r.Arguments) == 0 {
		return ""
	}
	return cmp.Or(r.Flag("--out"), DefaultOut)
}

// usesDefaultConfig reports whether the test run used the configuration file that is read if no flag names one.
func (r *Run) usesDefaultConfig() bool {
	return len(r.Arguments) > 0 && !slices.ContainsFunc(r.Arguments, func(a string) bool {
		return strings.HasPrefix(a, "--config") || strings.HasPrefix(a, "--target") || strings.HasPrefix(a, "--agent-target")
	})
}

// Flags returns the named flags that are set in the command line of the test run, for a shell: " --config vendor.yaml".
func (r *Run) Flags(names ...string) (words string) {
	for _, name := range names {
		if value := r.Flag(name); value != "" {
			words += " " + name + " " + ShellWord(value)
		}
	}
	return words
}

// findingID matches the ID of a finding, but not the ID of a requirement.
var findingID = regexp.MustCompile(`^[0-9a-f]+$`)

// ReplayCommand returns the command that judges a finding, or all findings of a requirement, again, with the target flags
// of the test run. A test run within go test has commands for requirements only, because these are its sub-tests. A
// recording has none.
func (r *Run) ReplayCommand(id string) string {
	if id == "" || r.Recording != nil || r.GoTest != "" && findingID.MatchString(id) {
		return ""
	}
	if r.GoTest != "" {
		pattern := ""
		for name := range strings.SplitSeq(r.GoTest+"/"+id, "/") {
			pattern += "/^" + regexp.QuoteMeta(name) + "$"
		}
		return "go test -run " + ShellWord(pattern[1:])
	}
	flags := r.Flags("--target", "--agent-target", "--config")
	if flags == "" && !r.usesDefaultConfig() {
		flags = " --config FILE"
	}
	if out := r.Flag("--out"); out != "" {
		flags += " --result " + ShellWord(path.Join(out, "result.json"))
	}
	return "agentconform replay " + ShellWord(id) + flags
}

// CleanCommand returns the command that removes the remaining objects of a test run, with the target flags of the test
// run. out is the folder of its ledger and may be empty.
func (r *Run) CleanCommand(out string) string {
	command := "agentconform clean" + r.Flags("--target", "--agent-target", "--config")
	if out != "" {
		command += " --ledger " + ShellWord(path.Join(out, "ledger.jsonl"))
	}
	return command
}
