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

// aliases returns n+1 lists. Each contains the previous one twice, so that the last one expands to 2^n items.
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

// TestFieldsOfAUser checks that fields may have any JSON value, in a file and in a variable.
func TestFieldsOfAUser(t *testing.T) {
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

func TestLaterSourcesOverrideEarlierOnes(t *testing.T) {
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
	assert.Equal(t, 10*time.Second, c.Timeouts.Request, "the default")
	assert.False(t, c.Has("users.0.identity"), "a name is not an identity")
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

// mistakesOf returns the mistakes in an error. It checks that each has a remedy and shows no password.
func mistakesOf(t *testing.T, err error) []*config.Error {
	t.Helper()
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hidden")
	var all []*config.Error
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		var one *config.Error
		require.ErrorAs(t, err, &one)
		all = append(all, one)
	} else {
		for _, each := range several.Unwrap() {
			var one *config.Error
			require.ErrorAs(t, each, &one)
			all = append(all, one)
		}
	}
	for _, e := range all {
		assert.NotEmpty(t, e.Remedy)
	}
	return all
}

// TestMistakes checks the place and the key of a mistake, and the key, value or variable in the remedy.
func TestMistakes(t *testing.T) {
	with := func(line string) string { return valid + line + "\n" }
	body := func(lines string) string { return strings.Replace(valid, "  body:\n", "  body:\n"+lines, 1) }
	for name, c := range map[string]struct {
		file, variable, flag string
		place, key, remedy   string
	}{
		"unknown key":                {file: with("credentails: {}"), place: "c.yaml:13", key: "credentails", remedy: `"credentials"`},
		"unknown nested key":         {file: with("polling: {intervall: 1s}"), place: "c.yaml:13", key: "polling.intervall", remedy: `"interval"`},
		"a key twice":                {file: with("edition: cloud\nedition: cloud"), place: "c.yaml", remedy: "that line"},
		"a text for a group":         {file: with("agent: fast"), place: "c.yaml:13", key: "agent", remedy: "listing"},
		"a bad duration":             {file: with("polling: {interval: 5}"), place: "c.yaml:13", key: "polling.interval", remedy: "10s"},
		"invalid YAML":               {file: "target: [", place: "c.yaml"},
		"aliases of aliases":         {file: body(aliases(40)), place: "c.yaml"},
		"aliases in a variable":      {file: valid, variable: "CREATE_BODY=" + strings.ReplaceAll(aliases(40), "    a", "a"), place: "environment AGENTCONFORM_CREATE_BODY", key: "create.body"},
		"two documents":              {file: valid + "---\na: b\n", place: "c.yaml", remedy: "one document"},
		"a list at the top":          {file: "- a\n", place: "c.yaml:1", remedy: "target"},
		"not an address":             {file: valid, flag: "control.example", place: "flag --target", key: "target", remedy: "https://"},
		"a password in the address":  {file: valid, flag: "http://me:hidden@host", place: "flag --target", key: "target", remedy: "credentials"},
		"a query in the address":     {file: valid, flag: "http://host/?a=hidden", place: "flag --target", key: "target"},
		"unknown source":             {file: strings.Replace(valid, "git_host", "floppy", 1), place: "c.yaml:6", key: "create.body.source", remedy: "external_container"},
		"a short secret":             {file: strings.Replace(valid, "secret-key", "abc", 1), place: "c.yaml:3", key: "credentials.api_key"},
		"a line break in a secret":   {file: strings.Replace(valid, "secret-key", `"abcd\nhidden"`, 1), place: "c.yaml:3", key: "credentials.api_key"},
		"an invalid header name":     {file: with(`credential_headers: {api_key: "a b"}`), place: "c.yaml:13", key: "credential_headers.api_key"},
		"poll intervals":             {file: with("polling: {interval: 1m, max_interval: 1s}"), place: "c.yaml:13", key: "polling.max_interval", remedy: "polling.interval"},
		"a short timeout":            {file: strings.Replace(valid, "poll: 90s", "request: 300ms", 1), place: "c.yaml:12", key: "timeouts.request", remedy: "use 1s or longer"},
		"unknown variable":           {file: valid, variable: "TARGTE=x", place: "environment AGENTCONFORM_TARGTE", remedy: "AGENTCONFORM_TARGET"},
		"a user that is skipped":     {file: valid, variable: "USERS_5_TOKEN=abcd", place: "environment AGENTCONFORM_USERS_5_TOKEN", key: "users", remedy: "set AGENTCONFORM_USERS_1_TOKEN as well"},
		"the second user only":       {file: "target: http://h\n", variable: "USERS_1_TOKEN=abcd", place: "environment AGENTCONFORM_USERS_1_TOKEN", key: "users", remedy: "set AGENTCONFORM_USERS_0_TOKEN as well"},
		"an unknown word of a list":  {file: valid, variable: "SUPPORTS=paging,filtres", place: "environment AGENTCONFORM_SUPPORTS", key: "supports", remedy: "did you mean filters?"},
		"an unknown entry":           {file: valid, variable: "VOCABULARY_X=abcd", place: "environment AGENTCONFORM_VOCABULARY_X", key: "vocabulary", remedy: "JSON in AGENTCONFORM_VOCABULARY"},
		"an unknown word":            {file: with(`vocabulary: {git_hst: theirs}`), place: "c.yaml:13", key: "vocabulary.git_hst", remedy: "git_host, "},
		"a word that is not neutral": {file: with(`vocabulary: {status: state}`), place: "c.yaml:13", key: "vocabulary.status"},
		"the wrong way round":        {file: with(`vocabulary: {kilnhub: git_host}`), place: "c.yaml:13", key: "vocabulary.kilnhub", remedy: "git_host, "},
		"one name for two":           {file: with(`vocabulary: {git_host: kind, internal_container: kind}`), place: "c.yaml:13", key: "vocabulary.internal_container"},
		"a word that is empty":       {file: with(`vocabulary: {git_host: ""}`), place: "c.yaml:13", key: "vocabulary.git_host"},
		"a group that lacks a key":   {file: "target: http://h\nusers:\n- {name: ada}\n", place: "c.yaml:3", key: "users.0.token", remedy: "AGENTCONFORM_USERS_0_TOKEN"},
		"a list of the environment":  {file: valid, variable: "USERS=[{token: Bearer abcdef}]", place: "environment AGENTCONFORM_USERS", key: "users.0.token"},
		"an entry of a map":          {file: with("vocabulary: {git_host: a}"), variable: "VOCABULARY_GIT_HOST=", place: "environment AGENTCONFORM_VOCABULARY_GIT_HOST", key: "vocabulary.git_host"},
		"an alias":                   {file: "agent: &a {listing: x}\n", place: "c.yaml:1", key: "agent.listing", remedy: "get, search"},
		"an anchor in itself":        {file: "create: &a {body: *a}", place: "c.yaml"},
		"a nested one":               {file: "create: {body: &a {x: [&b {y: *b}, *a]}}", place: "c.yaml"},
		"a list in itself":           {file: "users: &u [*u]", place: "c.yaml:1", key: "users.0"},
		"a secret in itself":         {file: "credentials: &c {api_key: *c}", place: "c.yaml:1", key: "credentials.api_key"},
		"a number in quotes":         {file: with(`max_deployments: "3"`), place: "c.yaml:13", key: "max_deployments", remedy: "remove the quotes"},
		"true in quotes":             {file: with(`tenant_id_alone: "true"`), place: "c.yaml:13", key: "tenant_id_alone", remedy: "remove the quotes"},
		"a variable in a key":        {file: with("other_tenant: {api_key: '${OTHER}'}"), place: "c.yaml:13", key: "other_tenant.api_key", remedy: "use {file: path}, or remove the key and set the environment variable AGENTCONFORM_OTHER_TENANT_API_KEY"},
		"a plain variable":           {file: "credentials: {bearer: $TOKEN}", place: "c.yaml:1", key: "credentials.bearer", remedy: "AGENTCONFORM_CREDENTIALS_BEARER"},
		"a variable of a workflow":   {file: "credentials: {bearer: '${{ secrets.TOKEN }}'}", place: "c.yaml:1", key: "credentials.bearer", remedy: "AGENTCONFORM_CREDENTIALS_BEARER"},
		"a variable in a token":      {file: "users: [{token: 'a-${TOKEN}'}]", place: "c.yaml:1", key: "users.0.token", remedy: "AGENTCONFORM_USERS_0_TOKEN"},
		"a variable in a header":     {file: "users: [{headers: {X-Key: '${KEY}'}}]", place: "c.yaml:1", key: "users.0.headers.X-Key", remedy: "AGENTCONFORM_USERS_0_HEADERS, which holds all headers as JSON"},
		"a variable in a proxy":      {file: "proxy: 'http://me:${HIDDEN}@proxy.example:1'", place: "c.yaml:1", key: "proxy", remedy: "remove the key and set the environment variable AGENTCONFORM_PROXY"},
	} {
		t.Run(name, func(t *testing.T) {
			flags := map[string]string{}
			if c.flag != "" {
				flags["target"] = c.flag
			}
			var environ []string
			if c.variable != "" {
				environ = append(environ, "AGENTCONFORM_"+c.variable)
			}
			_, err := load(t, c.file, environ, flags)
			found := mistakesOf(t, err)
			require.Len(t, found, 1)
			assert.Equal(t, c.place, filepath.Base(found[0].Source))
			assert.Equal(t, c.key, found[0].Key)
			assert.Contains(t, found[0].Remedy, c.remedy)
		})
	}
}

func TestMistakesInTheConnection(t *testing.T) {
	environ := []string{"AGENTCONFORM_USERS=[{name: a, token: token-a}, {name: b, headers: {x-user: token-b, X-Auth-Scheme: s}}]",
		"AGENTCONFORM_AGENT_STUDIO_HEADERS={x-studio: studio}"}
	for file, want := range map[string]struct{ key, remedy string }{
		"headers: {control_plane: {x-api-key: value}}":           {"headers.control_plane.x-api-key", "credentials.api_key"},
		"headers: {control_plane: {X-Tenant-Id: value}}":         {"headers.control_plane.X-Tenant-Id", "credentials.tenant_id"},
		"headers: {control_plane: {authorization: value}}":       {"headers.control_plane.authorization", "credentials.bearer"},
		"headers: {agent_server: {Authorization: value}}":        {"headers.agent_server.Authorization", "users.0.token"},
		"headers: {agent_server: {X-User: value}}":               {"headers.agent_server.X-User", "users.1.headers.x-user"},
		"headers: {control_plane: {X-Studio: value}}":            {"headers.control_plane.X-Studio", "agent.studio_headers.x-studio"},
		"headers: {control_plane: {Host: value}}":                {"headers.control_plane.Host", ""},
		"headers: {control_plane: {Proxy-Authorization: value}}": {"headers.control_plane.Proxy-Authorization", "URL of proxy"},
		"headers: {control_plane: {X-Gateway: a-1}}":             {"headers.control_plane.X-Gateway", ""},
		"headers: {control_plane: {X-Gateway: ''}}":              {"headers.control_plane.X-Gateway", ""},
		"headers: {control_plane: {'X Gateway': value}}":         {"headers.control_plane.X Gateway", ""},
		"headers: {control_plane: {X-Gateway: {path: x}}}":       {"headers.control_plane.X-Gateway", "{file: path}"},
		"headers: {X-Gateway: value}":                            {"headers.X-Gateway", "control_plane, agent_server"},
		"header_hosts: [https://agents.example]":                 {"header_hosts", "without https://"},
		"header_hosts: ['*.example']":                            {"header_hosts", "*.agents.example"},
		"tls: {ca: none.pem}":                                    {"tls.ca", ""},
		"tls: {ca: text.pem}":                                    {"tls.ca", ""},
		"tls: {key: key.pem}":                                    {"tls.key", ""},
		"tls: {cert: cert.pem}":                                  {"tls.cert", ""},
		"tls: {cert: text.pem, key: key.pem}":                    {"tls.cert", ""},
		"tls: {cert: cert.pem, key: locked.pem}":                 {"tls.cert", ""},
		"tls: {server_name: 'a:1'}":                              {"tls.server_name", ""},
		"tls: {insecure: yes please}":                            {"tls.insecure", ""},
		"proxy: proxy.example:3128":                              {"proxy", ""},
		"proxy: http://proxy.example":                            {"proxy", ""},
		"proxy: http://me:abc@proxy.example:1":                   {"proxy", ""},
		"proxy: http://proxy.example:1/path":                     {"proxy", ""},
		"resolve: {agents.example: elsewhere}":                   {"resolve.agents.example", ""},
		"resolve: {127.0.0.1: 127.0.0.2}":                        {"resolve.127.0.0.1", ""},
		"resolve: {'https://a': 127.0.0.2}":                      {"resolve.https://a", ""},
		"{target: '', socket: {control_plane: s}}":               {"socket", ""},
		"{target: 'http://a', agent_target: 'http://a/b', socket: {control_plane: s, agent_server: t}}": {"socket.agent_server", "another host"},
	} {
		_, err := load(t, file, environ, nil)
		found := mistakesOf(t, err)[0]
		assert.Equal(t, want.key, found.Key, file)
		assert.Contains(t, found.Remedy, want.remedy, file)
		assert.NotContains(t, err.Error(), "abc@")
	}
}

// TestAllMistakesAtOnce checks that each mistake has one line with its place.
func TestAllMistakesAtOnce(t *testing.T) {
	const form = "credentails: {api_key: abcdefg}\npolling: {intervall: 1s, interval: x}\n"
	const values = "edition: basement\nagent_target: ftp://x\ncreate:\n  body: {source: floppy}\nusers:\n  - {name: owner}\n  - {name: owner, token: abcdefg}\n"
	environ := []string{"AGENTCONFORM_AGENT_LISTING=guess", "AGENTCONFORM_TARGET=http://h", "AGENTCONFORM_USERS_0_TOKEN=abc"}
	path := filepath.Join(t.TempDir(), "c.yaml")
	for text, lines := range map[string][]string{
		form + values: {"7 mistakes in the configuration:",
			`  environment AGENTCONFORM_TAGRET: unknown key; did you mean AGENTCONFORM_TARGET?`,
			"  environment AGENTCONFORM_AGENT_LISTING: agent.listing: ", `  c.yaml:1: credentails: unknown key; did you mean "credentials"?`,
			`  c.yaml:2: polling.intervall: unknown key; did you mean "interval"?`,
			"  c.yaml:2: polling.interval: is \"x\"; use a duration above zero",
			"  c.yaml:3: edition: ", "  c.yaml:4: agent_target: "},
		"users:\n\t- name: owner\n":                 {"c.yaml:2: the line is indented with a tab; YAML allows only spaces there"},
		"edition: cloud\nedition: cloud\n" + values: {`c.yaml: line 2, column 1: mapping key "edition" already defined at line 1; correct or remove that line`},
		values: {"6 mistakes in the configuration:",
			"  environment AGENTCONFORM_AGENT_LISTING: agent.listing: ",
			"  environment AGENTCONFORM_USERS_0_TOKEN: users.0.token: is shorter than 4 characters",
			"  c.yaml:1: edition: ",
			"  c.yaml:2: agent_target: \"ftp://x\" is not an http or https URL without",
			"  c.yaml:4: create.body.source: ",
			"  c.yaml:7: users.1.name: is used twice"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		variables := environ
		if text != values {
			variables = append(variables, "AGENTCONFORM_TAGRET=x")
		}
		_, err := config.Load(config.Sources{File: path, Environ: variables})
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

// TestCredentialsFromFiles checks that credentials are read again, unless a variable overrides them.
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
	assert.Equal(t, first, values(c), "requests in progress may still read these")
	assert.Contains(t, next.Secrets(), "ada-two")
	assert.Nil(t, next.Reread())
	write("\nlines")
	assert.Nil(t, next.Reread(), "a file without a credential may be written at this moment")
}

func TestMistakesInFilesOfCredentials(t *testing.T) {
	for name, c := range map[string]struct{ from, to, says string }{
		"missing":     {"{file: key}", "{file: none}", "target.yaml:2: credentials.api_key: the file "},
		"a folder":    {"{file: key}", "{file: sub}", "cannot be used"},
		"another key": {"{file: key}", "{path: key}", "credentials.api_key: is a group of keys"},
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

// FuzzLoad checks that any file and variable give a complete configuration or mistakes with a remedy, and that no mistake
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
			require.LessOrEqual(t, c.Every().Abs(), time.Hour)
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
