package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
)

const valid = `
target: https://control.example/api/
credentials: {api_key: secret-key}
create:
  body:
    source: git_host
    source_config: {repo_url: https://git.example/r, build_on_push: false}
    source_revision_config: {repo_ref: main}
    secrets: [{name: USERS, value: old-value}]
users:
  - {name: owner, token: token-1}
timeouts: {poll: 90s}
`

// aliases are lists in a body, each with the one before it twice: written out, the last one has 2 to the power of n
// items.
func aliases(n int) string {
	text := "    a0: &a0 [x]\n"
	for i := range n {
		text += fmt.Sprintf("    a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	return text
}

func load(t *testing.T, file string, environ []string, flags map[string]string) (*config.Config, error) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"c.yaml": file, "text.pem": "no certificate",
		"locked.pem": "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
		"cert.pem":   "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return config.Load(config.Sources{File: filepath.Join(folder, "c.yaml"), Environ: environ, Flags: flags})
}

// TestFieldsOfAUserHoldAnyJSON: as they are written in a file, and as a variable has them.
func TestFieldsOfAUserHoldAnyJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = "users: [{name: a, token: the-token, fields: {s: x, n: 3, f: 1.5, b: true, z: null, day: 2026-11-24, l: [1, {2: y}]}}]"
	require.NoError(t, os.WriteFile(config.DefaultFile, []byte(text), 0o600))
	want := map[string]any{"s": "x", "n": 3, "f": 1.5, "b": true, "z": nil, "day": "2026-11-24", "l": []any{1, map[string]any{"2": "y"}}}
	c, err := config.Load(config.Sources{})
	require.NoError(t, err)
	assert.Equal(t, want, c.Users[0].Fields)
	for variable, changed := range map[string]map[string]any{
		"FIELDS_S=4":            {"s": "4"}, // it was a string
		"FIELDS_N=4":            {"n": 4},
		"FIELDS_L=[x]":          {"l": []any{"x"}},
		`FIELDS_Z={"a":[]}`:     {"z": map[string]any{"a": []any{}}},
		`FIELDS={"s":1,"u":[]}`: {"s": 1, "u": []any{}},
	} {
		c, err := config.Load(config.Sources{Environ: []string{"AGENTCONFORM_USERS_0_" + variable}})
		require.NoError(t, err, variable)
		for name, value := range changed {
			assert.Equal(t, value, c.Users[0].Fields[name], variable)
		}
	}
	for _, value := range []string{".nan", "[-.Inf]", "!!binary aGk="} {
		_, err := config.Load(config.Sources{Environ: []string{"AGENTCONFORM_USERS_0_FIELDS={x: " + value + "}"}})
		assert.ErrorContains(t, err, "is not a JSON value", value)
	}
}

func TestStrengthOfSources(t *testing.T) {
	environ := []string{
		"AGENTCONFORM_TARGET=http://environment", "AGENTCONFORM_CREDENTIALS_API_KEY=from-environment", "AGENTCONFORM_TIMEOUTS_POLL=3m",
		"AGENTCONFORM_USERS_0_TOKEN=token-e", "AGENTCONFORM_USERS_1_NAME=other", "AGENTCONFORM_USERS_1_TOKEN=token-2",
		"AGENTCONFORM_AGENT_LISTING=search", "AGENTCONFORM_AGENT_TARGET=http://agent", "AGENTCONFORM_CREATE_BODY_SECRETS_USERS=new-value",
		`AGENTCONFORM_VOCABULARY={"git_host": "theirs"}`, "AGENTCONFORM_MAX_DEPLOYMENTS=7", "PATH=/bin",
	}
	c, err := load(t, valid, nil, nil)
	require.NoError(t, err)
	assert.Equal(t, "https://control.example/api", c.Target, "without the closing slash")
	assert.Equal(t, 90*time.Second, c.Timeouts.Poll)
	assert.Equal(t, 10*time.Second, c.Timeouts.Request, "the default stays")
	assert.False(t, c.Has("users.0.identity"), "a name is no identity")
	c, err = load(t, valid, environ, map[string]string{"target": "http://flag"})
	require.NoError(t, err)
	assert.Equal(t, "http://flag", c.Target)
	assert.Equal(t, "from-environment", c.Credentials.APIKey)
	assert.Equal(t, 3*time.Minute, c.Timeouts.Poll)
	require.Len(t, c.Users, 2)
	assert.Equal(t, "token-e", c.Users[0].Token)
	assert.Equal(t, "other", c.Users[1].Name)
	assert.Equal(t, "search", c.Agent.Listing)
	assert.Equal(t, "http://agent", c.AgentTarget)
	assert.Equal(t, "theirs", c.Vocabulary["git_host"])
	assert.Equal(t, 7, c.MaxDeployments)
	assert.Contains(t, c.Secrets(), "new-value")
}

// TestMistakes wants each mistake to name its place, the key and the remedy.
func TestMistakes(t *testing.T) {
	with := func(line string) string { return valid + line + "\n" }
	for name, c := range map[string]struct {
		file    string
		environ []string
		flags   map[string]string
		says    []string
	}{
		"unknown key":                {file: with("credentails: {}"), says: []string{"credentails", "did you mean", "credentials"}},
		"unknown nested key":         {file: with("polling: {intervall: 1s}"), says: []string{"polling.intervall", `"interval"`}},
		"a key twice":                {file: with("edition: cloud\nedition: cloud"), says: []string{"edition", "already defined at line"}},
		"a text for a group":         {file: with("agent: fast"), says: []string{"agent", "listing"}},
		"a bad duration":             {file: with("polling: {interval: 5}"), says: []string{"polling.interval", `is "5"`, "10s"}},
		"no YAML":                    {file: "target: [", says: []string{"not valid YAML", "line 2, column 1"}},
		"aliases of aliases":         {file: strings.Replace(valid, "  body:\n", "  body:\n"+aliases(40), 1), says: []string{"excessive aliasing"}},
		"aliases in a variable":      {file: valid, environ: []string{"AGENTCONFORM_CREATE_BODY=" + strings.ReplaceAll(aliases(40), "    a", "a")}, says: []string{"AGENTCONFORM_CREATE_BODY", "excessive aliasing"}},
		"two documents":              {file: valid + "---\na: b\n", says: []string{"more than one YAML document"}},
		"a list at the top":          {file: "- a\n", says: []string{"use the keys target"}},
		"no address":                 {file: valid, flags: map[string]string{"target": "control.example"}, says: []string{"flag --target: target: ", "not an http or https URL"}},
		"a password in the address":  {file: valid, flags: map[string]string{"target": "http://me:hidden@host"}, says: []string{"target", "credentials"}},
		"a query in the address":     {file: valid, flags: map[string]string{"target": "http://host/?a=b"}, says: []string{"target", "query"}},
		"unknown source":             {file: strings.Replace(valid, "git_host", "floppy", 1), says: []string{"create.body.source", "external_container"}},
		"a short secret":             {file: strings.Replace(valid, "secret-key", "abc", 1), says: []string{"credentials.api_key", "use a longer secret"}},
		"a line break in a secret":   {file: strings.Replace(valid, "secret-key", `"abcd\nefgh"`, 1), says: []string{"credentials.api_key", "line break"}},
		"no header name":             {file: with(`credential_headers: {api_key: "a b"}`), says: []string{"credential_headers.api_key", "not a valid HTTP header name"}},
		"poll intervals":             {file: with("polling: {interval: 1m, max_interval: 1s}"), says: []string{"polling.max_interval", "polling.interval or longer"}},
		"unknown variable":           {file: valid, environ: []string{"AGENTCONFORM_TARGTE=x"}, says: []string{"environment AGENTCONFORM_TARGTE", "did you mean"}},
		"a user that is skipped":     {file: valid, environ: []string{"AGENTCONFORM_USERS_5_TOKEN=abcd"}, says: []string{"AGENTCONFORM_USERS_5_TOKEN"}},
		"an entry that is none":      {file: valid, environ: []string{"AGENTCONFORM_VOCABULARY_X=abcd"}, says: []string{"AGENTCONFORM_VOCABULARY", "JSON"}},
		"a word of nobody":           {file: with(`vocabulary: {git_hst: theirs}`), says: []string{"vocabulary.git_hst", "is not a neutral word", "git_host, "}},
		"a word that is not neutral": {file: with(`vocabulary: {status: state}`), says: []string{"vocabulary.status", "is not a neutral word"}},
		"the wrong way round":        {file: with(`vocabulary: {kilnhub: git_host}`), says: []string{"vocabulary.kilnhub", "on the left, are git_host, "}},
		"one name for two":           {file: with(`vocabulary: {git_host: kind, internal_container: kind}`), says: []string{"vocabulary.internal_container", `is "kind", and so is`}},
		"a word that is empty":       {file: with(`vocabulary: {git_host: ""}`), says: []string{"vocabulary.git_host", "empty"}},
		"a group that lacks a key":   {file: "target: http://h\nusers:\n- {name: ada}\n", says: []string{"c.yaml:3: users.0.token: is missing"}},
		"a list of the environment":  {file: valid, environ: []string{"AGENTCONFORM_USERS=[{token: Bearer abcdef}]"}, says: []string{"environment AGENTCONFORM_USERS: users.0.token: begins with Bearer; leave that out"}},
		"an entry of a map":          {file: with("vocabulary: {git_host: a}"), environ: []string{"AGENTCONFORM_VOCABULARY_GIT_HOST="}, says: []string{"environment AGENTCONFORM_VOCABULARY_GIT_HOST: vocabulary.git_host: "}},
		"an alias":                   {file: "agent: &a {listing: x}\n", says: []string{"c.yaml:1: agent.listing: "}},
		"an anchor in itself":        {file: "create: &a {body: *a}", says: []string{"c.yaml: line 1, column ", "value contains itself; correct the value at that line"}},
		"a nested one":               {file: "create: {body: &a {x: [&b {y: *b}, *a]}}", says: []string{"value contains itself"}},
		"a list in itself":           {file: "users: &u [*u]", says: []string{"c.yaml:1: users.0: is a list"}},
		"a secret in itself":         {file: "credentials: &c {api_key: *c}", says: []string{"c.yaml:1: credentials.api_key: is a group of keys"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, c.file, c.environ, c.flags)
			require.Error(t, err)
			for _, words := range c.says {
				assert.ErrorContains(t, err, words)
			}
			assert.NotContains(t, err.Error(), "hidden")
		})
	}
}

// TestMistakesInTheConnection is the same for the keys that say how the target is reached.
func TestMistakesInTheConnection(t *testing.T) {
	environ := []string{"AGENTCONFORM_USERS=[{name: a, token: token-a}, {name: b, headers: {x-user: token-b, X-Auth-Scheme: s}}]",
		"AGENTCONFORM_AGENT_STUDIO_HEADERS={x-studio: studio}"}
	for file, want := range map[string]string{
		"headers: {control_plane: {x-api-key: value}}":           `headers.control_plane.x-api-key: is a credential of the target: .*; set credentials.api_key instead`,
		"headers: {control_plane: {X-Tenant-Id: value}}":         `set credentials.tenant_id instead`,
		"headers: {control_plane: {authorization: value}}":       `set credentials.bearer instead`,
		"headers: {agent_server: {Authorization: value}}":        `headers.agent_server.Authorization: .*; set users.0.token instead`,
		"headers: {agent_server: {X-User: value}}":               `set users.1.headers.x-user instead`,
		"headers: {control_plane: {X-Studio: value}}":            `set agent.studio_headers.x-studio instead`,
		"headers: {control_plane: {Host: value}}":                `headers.control_plane.Host: is set by the suite itself; remove it`,
		"headers: {control_plane: {Proxy-Authorization: value}}": `into the URL of proxy`,
		"headers: {control_plane: {X-Gateway: a-1}}":             `headers.control_plane.X-Gateway: is shorter than 4 characters`,
		"headers: {control_plane: {X-Gateway: ''}}":              `headers.control_plane.X-Gateway: is empty`,
		"headers: {control_plane: {'X Gateway': value}}":         `"X Gateway" is not a valid HTTP header name`,
		"headers: {control_plane: {X-Gateway: {path: x}}}":       `use a string, or {file: path}`,
		"headers: {X-Gateway: value}":                            `headers.X-Gateway: unknown key; known keys: control_plane, agent_server`,
		"tls: {ca: none.pem}":                                    `tls.ca: the file .*none.pem cannot be used: no such file or directory; name a readable PEM file`,
		"tls: {ca: text.pem}":                                    `tls.ca: .* it holds no certificate in PEM form`,
		"tls: {key: key.pem}":                                    `tls.key: is set, but tls.cert is not; set tls.cert`,
		"tls: {cert: cert.pem}":                                  `tls.cert: .*cert.pem with the key in .*cert.pem cannot be used: .*; name PEM files`,
		"tls: {cert: text.pem, key: key.pem}":                    `tls.cert: .*text.pem with the key in .*key.pem cannot be used: `,
		"tls: {cert: cert.pem, key: locked.pem}":                 `tls.cert: .* its private key, which is not encrypted`,
		"tls: {server_name: 'a:1'}":                              `tls.server_name: "a:1" is not a host name`,
		"tls: {insecure: yes please}":                            `tls.insecure: is "yes please"; use true or false`,
		"proxy: proxy.example:3128":                              `proxy: is not an http, https or socks5h URL with a port and without a path; use a URL such as http://proxy.example:3128`,
		"proxy: http://proxy.example":                            `proxy: .* with a port`,
		"proxy: http://me:abc@proxy.example:1":                   `proxy: has a password of fewer than 4 characters`,
		"proxy: http://proxy.example:1/path":                     `proxy: .* without a path`,
		"resolve: {agents.example: elsewhere}":                   `resolve.agents.example: "elsewhere" is not an IP address`,
		"resolve: {127.0.0.1: 127.0.0.2}":                        `"127.0.0.1" is not a host name`,
		"resolve: {'https://a': 127.0.0.2}":                      `is not a host name`,
		"{target: '', socket: {control_plane: s}}":               `socket: is set, but neither target nor agent_target`,
		"{target: 'http://a', agent_target: 'http://a/b', socket: {control_plane: s, agent_server: t}}": `have the same host and port, but not the same socket`,
	} {
		_, err := load(t, file, environ, nil)
		require.Error(t, err, file)
		assert.Regexp(t, want, err.Error(), file)
		assert.NotContains(t, err.Error(), "abc@")
	}
}

// TestAllMistakesAtOnce wants one line for each, where it stands: first those of form, then what they hide.
func TestAllMistakesAtOnce(t *testing.T) {
	const form = "credentails: {api_key: abcdefg}\npolling: {intervall: 1s, interval: x}\n"
	const values = "edition: basement\nagent_target: ftp://x\ncreate:\n  body: {source: floppy}\nusers:\n  - {name: owner}\n  - {name: owner, token: abcdefg}\n"
	environ := []string{"AGENTCONFORM_AGENT_LISTING=guess", "AGENTCONFORM_TARGET=http://h", "AGENTCONFORM_USERS_0_TOKEN=abc"}
	path := filepath.Join(t.TempDir(), "c.yaml")
	for text, lines := range map[string][]string{
		form + values: {"4 mistakes in the configuration:",
			`  c.yaml:1: credentails: unknown key; did you mean "credentials"?`,
			`  c.yaml:2: polling.intervall: unknown key; did you mean "interval"?`,
			"  c.yaml:2: polling.interval: is \"x\"; use a duration above zero",
			`  environment AGENTCONFORM_TAGRET: unknown key; did you mean AGENTCONFORM_TARGET?`},
		"edition: cloud\nedition: cloud\n" + values: {`c.yaml: line 2, column 1: mapping key "edition" already defined`},
		values: {"6 mistakes in the configuration:",
			"  environment AGENTCONFORM_AGENT_LISTING: agent.listing: ",
			"  c.yaml:2: agent_target: \"ftp://x\" is not an http or https URL without",
			"  c.yaml:4: create.body.source: ",
			"  c.yaml:1: edition: ",
			"  environment AGENTCONFORM_USERS_0_TOKEN: users.0.token: is shorter than 4 characters",
			"  c.yaml:7: users.1.name: is used twice"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		variables := environ
		if text != values {
			variables = append(variables, "AGENTCONFORM_TAGRET=x")
		}
		_, err := config.Load(config.Sources{File: path, Environ: variables})
		require.Error(t, err)
		said := strings.Split(strings.ReplaceAll(err.Error(), path, "c.yaml"), "\n")
		require.Len(t, said, len(lines), "%s", err)
		for i, want := range lines {
			assert.True(t, strings.HasPrefix(said[i], want), "%d: %s", i, said[i])
		}
		var one *config.Error
		require.ErrorAs(t, err, &one)
		assert.NotEmpty(t, one.Remedy)
	}
}

func TestUnreadableFileIsNeverIgnored(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := config.Load(config.Sources{})
	require.NoError(t, err, "without the default file")
	require.NoError(t, os.Mkdir(config.DefaultFile, 0o755))
	for _, named := range []string{"none.yaml", ""} {
		_, err = config.Load(config.Sources{File: named})
		require.ErrorContains(t, err, "cannot be read", named)
	}
	_, err = load(t, strings.Repeat("# filler\n", 200_000), nil, nil)
	require.ErrorContains(t, err, "larger")
}

const withFiles = `target: https://host.example
credentials: {api_key: {file: key}, tenant_id: {file: key}}
other_tenant: {bearer: {file: sub/bearer}}
headers: {control_plane: {x-gateway: {file: key}}}
users:
  - {name: ada, token: {file: ada}}
  - {name: bob, headers: {X-Key: {file: bob}, X-Org: fixed}}
agent: {studio_headers: {X-Studio: {file: studio}}}
`

func loadWithFiles(t *testing.T, text string, environ ...string) (c *config.Config, write func(ending string), err error) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "sub"), 0o700))
	write = func(ending string) {
		for _, name := range []string{"key", "sub/bearer", "ada", "bob", "studio"} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(" "+filepath.Base(name)+ending+"\n"), 0o600))
		}
	}
	write("-one")
	file := filepath.Join(folder, "target.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	c, err = config.Load(config.Sources{File: file, Environ: environ})
	return c, write, err
}

// TestCredentialsFromFiles are read again, but for those that a variable replaces.
func TestCredentialsFromFiles(t *testing.T) {
	c, write, err := loadWithFiles(t, withFiles, "AGENTCONFORM_CREDENTIALS_TENANT_ID=from-environment", "AGENTCONFORM_USERS_1_HEADERS_X_ORG=also-from-there")
	require.NoError(t, err)
	values := func(c *config.Config) []string {
		return []string{c.Credentials.APIKey, c.Credentials.TenantID, c.OtherTenant.Bearer, config.HeaderOf(c.Headers.ControlPlane).Get("X-Gateway"),
			c.Users[0].Token, c.Users[1].Headers["X-Key"], c.Users[1].Headers["X-Org"], c.Agent.StudioHeaders["X-Studio"]}
	}
	first := []string{"key-one", "from-environment", "bearer-one", "key-one", "ada-one", "bob-one", "also-from-there", "studio-one"}
	assert.Equal(t, first, values(c))
	assert.Nil(t, c.Reread(), "nothing has changed")
	write("-two")
	next := c.Reread()
	require.NotNil(t, next)
	assert.Equal(t, []string{"key-two", "from-environment", "bearer-two", "key-two", "ada-two", "bob-two", "also-from-there", "studio-two"}, values(next))
	assert.Equal(t, first, values(c), "requests that are being made may still read these")
	assert.Contains(t, next.Secrets(), "ada-two")
	assert.Nil(t, next.Reread())
	write("\nlines")
	assert.Nil(t, next.Reread(), "a file that holds no credential may just be written")
}

func TestMistakesInFilesOfCredentials(t *testing.T) {
	for name, c := range map[string]struct{ from, to, says string }{
		"missing":     {"{file: key}", "{file: none}", "target.yaml:2: credentials.api_key: the file "},
		"a folder":    {"{file: key}", "{file: sub}", "it is no regular file"},
		"another key": {"{file: key}", "{path: key}", "credentials.api_key: is a group of keys; use a string, or {file: path} with a file that holds it"},
		"two keys":    {"{file: key}", "{file: key, mode: x}", "credentials.api_key: is a group of keys"},
		"a list":      {"{file: key}", "[key]", "credentials.api_key: is a list"},
		"no secret":   {"target: https://host.example", "target: {file: key}", "target: is a group of keys"},
		"a name":      {"name: ada", "name: {file: ada}", "users.0.name: is a group of keys"},
	} {
		_, _, err := loadWithFiles(t, strings.Replace(withFiles, c.from, c.to, 1))
		require.ErrorContains(t, err, c.says, name)
		assert.NotContains(t, err.Error(), "-one", name)
	}
}

// FuzzLoad: whatever a file and a variable hold, a configuration is complete or each mistake names its key; no mistake
// shows the value of a credential.
func FuzzLoad(f *testing.F) {
	for _, v := range []string{
		"TARGET=http://h", "CREDENTIALS_API_KEY=k", "USERS_99_TOKEN=t", `VOCABULARY={"git_host": "theirs"}`, "VOCABULARY=[", "TIMEOUTS_POLL=3m",
		"CREATE_BODY={a: &a [*a]}", "RATE=9223372036854775807/h", "PROXY=http://u:p@h:1", "RESOLVE={a: ::1}", "_=x", "MAX_DEPLOYMENTS=!!int x",
	} {
		name, value, _ := strings.Cut(v, "=")
		f.Add(valid, name, value)
	}
	f.Add("target: &a [*a]\n", "", "")
	f.Add("users: [{name: a, headers: {A: b}}]\ntimeouts: {poll: 9999999999h}\n", "", "")
	path := filepath.Join(f.TempDir(), "c.yaml")
	f.Fuzz(func(t *testing.T, text, name, value string) {
		if strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		c, err := config.Load(config.Sources{File: path, Environ: []string{"AGENTCONFORM_" + name + "=" + value}})
		if err == nil {
			every := c.Every()
			require.True(t, every >= 0 && every <= time.Hour)
			require.NotNil(t, c.Secrets())
			return
		}
		var mistakes *config.Error
		if errors.As(err, &mistakes) {
			require.NotEmpty(t, mistakes.Problem)
			require.NotEmpty(t, mistakes.Remedy)
		}
		if strings.HasPrefix(name, "CREDENTIALS_") && len(value) >= 12 && !strings.Contains(name, value) && !strings.Contains(text, value) {
			require.NotContains(t, err.Error(), value)
		}
	})
}
