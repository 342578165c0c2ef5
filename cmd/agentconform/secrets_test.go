package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/steps/config"
)

// canaries are secrets by their place in the configuration. In a URL they are escaped as by [url.UserPassword].
type canaries map[string]string

// canary returns a secret that differs in each spelling.
func canary(n int) string { return fmt.Sprintf(`k%02dQ/+"<&=>v%02dZwp7K/x+%02dJt`, n, n, n) }

// repeating is a target that receives canaries in place of the credentials of the reference, and repeats all canaries
// wherever possible.
type repeating struct {
	all      canaries
	real     map[string]string // credentials of the reference by canary
	sink     string            // another server; addresses in the answers point to it
	named    bool              // the server is also returned as the agent server of deployments
	answered atomic.Int64
}

// withCanaries returns a configuration for the reference with a canary in every place that can contain a secret.
func withCanaries(t *testing.T, server *reference.Server, proxy string) (config.Config, *repeating) {
	t.Helper()
	cfg := config.Default()
	describe(&cfg, server)
	r := &repeating{all: canaries{}, real: map[string]string{}}
	next := func(place string) string {
		r.all[place] = canary(len(r.all))
		return r.all[place]
	}
	for place, value := range map[string]*string{"api_key": &cfg.Credentials.APIKey, "tenant_id": &cfg.Credentials.TenantID, "bearer": &cfg.Credentials.Bearer,
		"other api_key": &cfg.OtherTenant.APIKey, "other tenant_id": &cfg.OtherTenant.TenantID, "other bearer": &cfg.OtherTenant.Bearer,
		"user 0": &cfg.Users[0].Token, "user 1": &cfg.Users[1].Token} {
		was := *value
		*value = next(place)
		r.real[*value] = was
	}
	cfg.Users[1].Headers = map[string]string{"Authorization": "Bearer " + cfg.Users[1].Token}
	cfg.Headers.ControlPlane = map[string]string{"X-Gateway": next("gateway of the control plane")}
	cfg.Headers.AgentServer = map[string]string{"X-Gateway": "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+next("gateway of the agent server")))}
	user := func(place, address string) string {
		u, err := url.Parse(address)
		require.NoError(t, err)
		u.User = url.UserPassword("me", next(place))
		return u.String()
	}
	cfg.Proxy = user("proxy", proxy)
	cfg.Implementation.URL = user("URL of the implementation", "https://vendor.example/a")
	account, err := json.Marshal(map[string]any{"private_key": next("string in a secret that is JSON"), "type": "account"})
	require.NoError(t, err)
	source, is := cfg.Create.Body["source_config"].(map[string]any)
	require.True(t, is)
	source["repo_url"] = user("repository", "https://git.example/a")
	const plain = "secret of the deployment" // not sent in a header, so it may contain any character
	r.all[plain] = canary(len(r.all)) + " \U0001D11Eé " + canary(len(r.all))
	cfg.Create.Body["secrets"] = []any{map[string]any{"name": "PLAIN", "value": r.all[plain]}, map[string]any{"name": "ACCOUNT", "value": string(account)}}
	return cfg, r
}

// spelled returns the spellings of a secret that SECURITY.md lists.
func spelled(secret string) []string {
	quoted, _ := json.Marshal(secret)
	escaped := string(quoted[1 : len(quoted)-1])
	return []string{
		secret, "Bearer " + secret, "x" + secret + "y", url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret),
		escaped, strings.ReplaceAll(escaped, "/", `\/`), base64.StdEncoding.EncodeToString([]byte("user:" + secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
}

// texts returns all canaries in one spelling.
func (r *repeating) texts(n int64) (all []string) {
	for _, place := range slices.Sorted(maps.Keys(r.all)) {
		texts := spelled(r.all[place])
		all = append(all, texts[int(n)%len(texts)])
	}
	return all
}

// wrap replaces the canaries in requests by the credentials of the reference, and adds the canaries to its responses.
func (r *repeating) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		n := r.answered.Add(1)
		for name, values := range request.Header {
			for i := range values {
				for shown, real := range r.real {
					values[i] = strings.ReplaceAll(values[i], shown, real)
				}
			}
			request.Header[name] = values
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, request)
		texts := r.texts(n)
		if answer.Code == http.StatusNotFound && n%3 == 0 {
			r.raw(w, texts)
			return
		}
		r.answer(w, answer, texts, n)
	})
}

// answer repeats the texts in the header, the trailer and the body of a response.
func (r *repeating) answer(w http.ResponseWriter, answer *httptest.ResponseRecorder, texts []string, n int64) {
	header, body := w.Header(), answer.Body.Bytes()
	maps.Copy(header, answer.Header())
	header.Del("Content-Length")
	for i, text := range texts {
		header.Add("X-Echo", text)
		header.Add("Trailer", fmt.Sprintf("X-End-%d", i))
	}
	header.Set("X-"+strings.Map(func(c rune) rune {
		if c < '0' || c > 'z' || strings.ContainsRune(`:;<=>?@[\]`, c) {
			return '-'
		}
		return c
	}, texts[0]), "a name")
	http.SetCookie(w, &http.Cookie{Name: "session", Value: url.QueryEscape(texts[int(n)%len(texts)])})
	object := map[string]any{}
	if json.Unmarshal(body, &object) == nil && len(object) > 0 {
		for i, text := range texts {
			object[text] = []any{text, map[string]any{"deep": "in " + text}}
			object[fmt.Sprintf("echo_url_%d", i)] = r.sink + "/" + text
		}
		if _, is := object["created_at"]; is && n%4 == 0 {
			object["created_at"] = texts[int(n)%len(texts)] // violates the contract on purpose
		}
		if _, is := object["id"]; is && n%13 == 0 {
			object["id"] = texts[int(n)%len(texts)]
		}
		if built, is := object["source_revision_config"].(map[string]any); is && n%7 == 0 {
			built["repo_ref"], built["image_uri"] = texts[0], "registry.example/"+texts[int(n)%len(texts)]
		}
		if _, is := object["detail"]; is {
			object["detail"] = strings.Repeat("x", int(n)%90) + strings.Join(texts, " ")
		}
		if source, is := object["source_config"].(map[string]any); is && r.named {
			source["custom_url"] = r.sink + "/" + url.PathEscape(texts[0])
		}
		body, _ = json.Marshal(object)
		rest := ""
		for i, text := range texts { // unchanged at places where they are already escaped for JSON
			if json.Valid([]byte(`"` + text + `"`)) {
				rest += fmt.Sprintf(`,"raw_%d":"%s"`, i, text)
			}
		}
		body = append(bytes.TrimSuffix(bytes.TrimSpace(body), []byte("}")), rest+"}"...)
	}
	if answer.Code >= 400 && n%5 == 0 {
		header.Set("Content-Type", "application/json; note="+url.QueryEscape(texts[int(n)%len(texts)]))
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body)
	for i, text := range texts {
		header.Set(fmt.Sprintf("X-End-%d", i), text)
	}
}

// raw sends the texts in the reason of the status line and in a redirect to another server.
func (r *repeating) raw(w http.ResponseWriter, texts []string) {
	conn, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close() //nolint:errcheck // the answer was sent
	said := strings.Join(texts, " ")
	_, _ = fmt.Fprintf(buffer, "HTTP/1.1 307 %s\r\nLocation: %s/%s\r\nWWW-Authenticate: Bearer realm=%q\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		said, r.sink, url.QueryEscape(said), said, len(said), said)
	_ = buffer.Flush()
}

// hears starts a server that records every request.
func hears(t *testing.T) (address string, heard func() string) {
	t.Helper()
	var mu sync.Mutex
	var all bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := httputil.DumpRequest(r, true)
		mu.Lock()
		defer mu.Unlock()
		all.Write(text)
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() string {
		mu.Lock()
		defer mu.Unlock()
		return all.String()
	}
}

// in returns the places of the canaries that a text contains in any spelling.
func (all canaries) in(content []byte) (found []string) {
	for place, secret := range all {
		for _, text := range spelled(secret) {
			quoted, _ := json.Marshal(text)
			for _, shown := range [][]byte{[]byte(text), quoted[1 : len(quoted)-1]} {
				if at := bytes.Index(content, shown); at >= 0 {
					found = append(found, fmt.Sprintf("%s, %s: %s", place, text, content[max(0, at-200):min(len(content), at+len(shown)+20)]))
				}
			}
		}
		if bytes.Contains(content, []byte(secret[:len(secret)*3/4])) {
			found = append(found, place+", cut")
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// TestSecretsReachNothing judges a target that repeats every secret of its configuration in every spelling wherever
// possible. It searches for the secrets in everything that the program has written, printed and sent to other servers.
func TestSecretsReachNothing(t *testing.T) {
	t.Parallel()
	var repeats atomic.Pointer[repeating]
	server, err := reference.Start(t.Context(), reference.Options{WrapHTTP: []func(http.Handler) http.Handler{func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { repeats.Load().wrap(next).ServeHTTP(w, r) })
	}}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.Header.Del("Proxy-Authorization") }})
	t.Cleanup(proxy.Close)
	sink, heard := hears(t)

	cfg, r := withCanaries(t, server, proxy.URL)
	r.sink = sink
	repeats.Store(r)
	folder := t.TempDir()
	file, temporary := filepath.Join(folder, "target.yaml"), filepath.Join(folder, "tmp")
	require.NoError(t, os.Mkdir(temporary, 0o700))
	environment := append(os.Environ(), "NO_COLOR=1", "TMPDIR="+temporary,
		"AGENTCONFORM_USERS_0_TOKEN="+cfg.Users[0].Token, "AGENTCONFORM_CREATE_BODY_SECRETS_PLAIN="+r.all["secret of the deployment"])
	cfg.Users[0].Token = ""
	text := cfg.YAML()
	require.NoError(t, os.WriteFile(file, text, 0o600))

	run := func(name string, arguments ...string) (code int) {
		var printed bytes.Buffer
		p := exec.CommandContext(t.Context(), "agentconform", append(arguments, "--config", file)...)
		p.Stdout, p.Stderr, p.Env, p.Dir = &printed, &printed, environment, folder
		repeats.Store(&repeating{all: r.all, real: r.real, sink: sink, named: name == "named"})
		_ = p.Run() // the exit code is checked instead
		files := written(t, temporary, folder)
		files["printed"] = printed.Bytes()
		for path, content := range files {
			assert.Empty(t, r.all.in(content), "%s: %s", name, path)
		}
		return p.ProcessState.ExitCode()
	}
	only := "CP-GET-*,CP-LIST-1,CP-AUTH-*,CP-CREATE-1,CP-CREATE-2,CP-CONTRACT-*,AS-THREAD-*,AS-AUTH-1,AS-CONTRACT-*,E2E-1"
	one := func(name, format string) []string {
		return []string{"run", "--out", "out-" + name, "--format", format, "--seed", "3", "--only", only, "--write-baseline", filepath.Join(temporary, name+".yaml")}
	}
	assert.Equal(t, exitNonConformant, run("plain", one("plain", "plain")...), "the echo is a fault too, so that findings are written")
	result, err := os.ReadFile(filepath.Join(folder, "out-plain", "result.json"))
	require.NoError(t, err)
	for _, name := range []string{"CREDENTIALS_API_KEY", "CREDENTIALS_BEARER", "USERS_0_TOKEN", "HEADERS_CONTROL_PLANE_X_GATEWAY", "PROXY", "CREATE_BODY_SECRETS_PLAIN", "CREATE_BODY_SECRETS_ACCOUNT", "IMPLEMENTATION_URL_USERINFO", "CREATE_BODY_SOURCE_CONFIG_REPO_URL_USERINFO"} {
		assert.Contains(t, string(result), "$AGENTCONFORM_"+name, "the echo was recorded")
	}
	run("replay", "replay", "CP-GET-3", "--result", filepath.Join(folder, "out-plain", "result.json"))
	run("doctor", "doctor")
	assert.Empty(t, heard(), "nothing is sent to an address that stands in an answer")
	run("named", one("named", "json")...)
	for place, secret := range r.all {
		if !strings.HasPrefix(place, "user ") {
			assert.NotContains(t, heard(), secret, "the agent server that the control plane names gets %s", place)
		}
	}
	assert.NotContains(t, heard(), "X-Gateway")
}

// written returns the files below folders.
func written(t *testing.T, folders ...string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, folder := range folders {
		require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && d.Name() != "target.yaml" {
				all[path], err = os.ReadFile(path)
			}
			return err
		}))
	}
	return all
}
