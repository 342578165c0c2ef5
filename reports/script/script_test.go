package script_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/script"
	"github.com/agentconform/agentconform/steps/client"
)

const by = "features/x.feature:1 one"

// chainOf returns a result with exchanges. The last one shows the violation.
func chainOf(target string, exchanges ...reports.Exchange) (*reports.Result, *reports.Finding) {
	f := reports.Finding{ID: "0123456789ab", Requirement: "CP-A-1", Exchange: len(exchanges)}
	for i := range exchanges {
		exchanges[i].URL = target + exchanges[i].URL
		if exchanges[i].Scenario == "" {
			exchanges[i].Scenario = by
		}
		exchanges[i].Curl = redactor.Curl(exchanges[i].Method, exchanges[i].URL, exchanges[i].Request, nil)
		part := reports.SetUp
		if i == len(exchanges)-1 {
			part = reports.Observation
		}
		f.Exchanges = append(f.Exchanges, reports.Link{Exchange: i + 1, Part: part})
	}
	return &reports.Result{Target: reports.Target{ControlPlane: target}, Run: reports.Run{ID: "old"}, Findings: []reports.Finding{f},
		Exchanges: reports.Record(nil, exchanges...)}, &f
}

// redactor knows the secrets of these tests.
var redactor = client.NewRedactor(map[string]string{"k": "$AGENTCONFORM_K", "s": "$AGENTCONFORM_S", "s~~": "${AGENTCONFORM_S~~}",
	"s%": "${AGENTCONFORM_S%?}", "key": "${AGENTCONFORM_CREDENTIALS_API_KEY%?}", "tenant": "$AGENTCONFORM_CREDENTIALS_TENANT_ID",
	"token": "$AGENTCONFORM_USERS_1_TOKEN"})

func exchange(method, path, body string, status int, response string) reports.Exchange {
	return reports.Exchange{Method: method, URL: path, Request: reports.Message{Body: body}, Status: status, Response: reports.Message{Body: response}}
}

// unknown is the exit code of a script that cannot tell whether the finding is still seen.
const unknown = 3

func lastLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[len(lines)-1]
}

func run(t *testing.T, r *reports.Result, f *reports.Finding, env ...string) (out, log string, code int) {
	t.Helper()
	var b strings.Builder
	require.NoError(t, script.Write(&b, r, f))
	dir := t.TempDir()
	file := filepath.Join(dir, "finding.sh")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	bash := exec.CommandContext(t.Context(), "bash", file)
	bash.Dir, bash.Env = dir, append(os.Environ(), env...)
	var stderr strings.Builder
	bash.Stderr = &stderr
	stdout, _ := bash.Output()
	files, _ := os.ReadDir(dir)
	assert.Len(t, files, 1, "the script creates no file in the folder")
	return string(stdout), stderr.String(), bash.ProcessState.ExitCode()
}

// TestScriptTakesIDsFromResponses runs a script against a server that returns other ids than the recorded ones, and that
// is slower than the recorded server.
func TestScriptTakesIDsFromResponses(t *testing.T) {
	target, seen := server(t, map[string][]string{
		"POST /v2/deployments":                  {`{"name":"d","id":"d-2","latest_revision_id":"r-1"}`},
		"PATCH /v2/deployments/d-2":             {`{}`},
		"GET /v2/deployments/d-2":               {`{"latest_revision_id":"r-1"}`, `{"latest_revision_id":"r-2"}`},
		"GET /v2/deployments/d-2/revisions/r-2": {`{"id":"r-2","status":"BUILDING"}`, `{"id":"r-2","status":"DEPLOYED","x":1}`},
	})
	create := exchange("POST", "/v2/deployments", `{"name":"agentconform-old-d-1","secrets":[{"name":"n","value":"$AGENTCONFORM_S"}]}`, 200, `{"id":"d-1","latest_revision_id":"ra"}`)
	create.Request.Headers = map[string][]string{"X-Api-Key": {"$AGENTCONFORM_K"}}
	create.Request.Secrets = []reports.SecretPlace{{Header: "X-Api-Key"}, {Pointer: "/secrets/0/value"}}
	r, f := chainOf(target, create,
		exchange("PATCH", "/v2/deployments/d-1", `{"a":"it's $(touch x) $HOME"}`, 200, `{}`),
		exchange("GET", "/v2/deployments/d-1", "", 200, `{"latest_revision_id":"rb"}`),
		exchange("GET", "/v2/deployments/d-1/revisions/rb", "", 200, `{"id":"rb","status":"BUILDING"}`),
		exchange("GET", "/v2/deployments/d-1/revisions/rb", "", 200, `{"id":"rb","status":"DEPLOYED"}`),
	)
	f.Expected, f.Actual = "BUILD_FAILED", "DEPLOYED\nand more"
	out, log, code := run(t, r, f, "AGENTCONFORM_K=key", `AGENTCONFORM_S=a "quoted" \ text`)
	assert.Equal(t, unknown, code, log)
	assert.Contains(t, out, `{"id":"r-2","status":"DEPLOYED","x":1}`)
	assert.Equal(t, "compare with: expected BUILD_FAILED, got DEPLOYED in the test run", lastLine(out))
	requests := seen()
	require.Len(t, requests, 7)
	assert.Regexp(t, `^POST /v2/deployments key \{"name":"agentconform-[0-9]+-[0-9]+-d-1","secrets":\[\{"name":"n","value":"a \\"quoted\\" \\\\ text"\}\]\}$`, requests[0])
	assert.Equal(t, `PATCH /v2/deployments/d-2  {"a":"it's $(touch x) $HOME"}`, requests[1])
	assert.Equal(t, []string{"GET /v2/deployments/d-2", "GET /v2/deployments/d-2", "GET /v2/deployments/d-2/revisions/r-2", "GET /v2/deployments/d-2/revisions/r-2"}, requests[2:6])
	assert.Equal(t, "DELETE /v2/deployments/d-2 key", requests[6])
}

// TestMissingSecret checks that the script sends no request if a secret is not set.
func TestMissingSecret(t *testing.T) {
	target, seen := server(t, nil)
	x := exchange("GET", "/v2/deployments/d", "", 200, "{}")
	x.Request.Headers = map[string][]string{"X-Api-Key": {"${AGENTCONFORM_CREDENTIALS_API_KEY%?}"}, "X-Tenant-Id": {"$AGENTCONFORM_CREDENTIALS_TENANT_ID"},
		"X-User": {"$AGENTCONFORM_USERS_1_TOKEN"}}
	for name := range x.Request.Headers {
		x.Request.Secrets = append(x.Request.Secrets, reports.SecretPlace{Header: name})
	}
	r, f := chainOf(target, x)
	r.Run.Arguments = []string{"run", "--config", "my vendor.yaml"}
	_, log, code := run(t, r, f, "AGENTCONFORM_CREDENTIALS_TENANT_ID=t")
	assert.Equal(t, 2, code)
	assert.Contains(t, log, "agentconform exec --config 'my vendor.yaml' -- bash ")
	assert.Contains(t, log, "AGENTCONFORM_CREDENTIALS_API_KEY is not set")
	assert.Empty(t, seen())
}

// TestOverlappingRequests uses a server that responds to a join only after it has received the next request.
func TestOverlappingRequests(t *testing.T) {
	released := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/join":
			<-released
		case "/runs":
			close(released)
		}
		_, _ = w.Write([]byte(`{}`))
	}))
	defer s.Close()
	join := exchange("GET", "/join", "", 200, "{}")
	join.AtMS, join.MS = 10, 100
	rollback := exchange("POST", "/runs", "{}", 200, "{}")
	rollback.AtMS, rollback.MS = 50, 10
	after := exchange("GET", "/state", "", 200, "{}")
	after.AtMS, after.MS = 130, 5
	r, f := chainOf(s.URL, join, rollback, after)
	out, log, code := run(t, r, f)
	assert.Equal(t, unknown, code, log)
	assert.Contains(t, out, "1. Send GET /join without credentials: 200", "the next request is sent before the join has a response")
	assert.Less(t, strings.Index(out, "1. Send"), strings.Index(out, "3. Send"), "a later request waits for the response of the join: %s", out)
}

// TestHostileTarget runs scripts of results whose texts try to run commands or to send secrets to another server.
func TestHostileTarget(t *testing.T) {
	evil := "'; touch pwned; $(touch pwned) `touch pwned` \n touch pwned #\"$AGENTCONFORM_K"
	target, seen := server(t, map[string][]string{"POST /v2/x": {`{"id":"$(touch${IFS}pwned)';touch${IFS}pwned;'"}`}})
	first := exchange("POST", "/v2/x", evil, 200, `{"id":"one"}`)
	first.Scenario, first.Request.Headers = by, map[string][]string{"X-Api-Key": {strings.ReplaceAll(evil, "\n", " ")}}
	r, f := chainOf(target, first, exchange("GET", "/v2/x/one?q="+strings.Join(strings.Fields(evil), "${IFS}"), "", 404, ""))
	f.Requirement, f.ID, r.Run.ID = evil, evil, evil
	f.Exchanges[0].Part = reports.Part(evil)
	_, log, code := run(t, r, f, "AGENTCONFORM_K=secret") // run checks that no file was created
	assert.Equal(t, unknown, code, log)
	require.Len(t, seen(), 2, log)
	assert.NotContains(t, strings.Join(seen(), "\n"), "secret", "no header of the exchange was recorded as a secret")

	for name, change := range map[string]func(*reports.Exchange){
		"another address": func(x *reports.Exchange) { x.URL = "http://elsewhere/v2/x" },
		"a longer host":   func(x *reports.Exchange) { x.URL = target + ".elsewhere/v2/x" },
		"a user":          func(x *reports.Exchange) { x.URL = target + "@elsewhere/v2/x" },
		"an option":       func(x *reports.Exchange) { x.URL = "--config=/etc/passwd" },
		"a cut body":      func(x *reports.Exchange) { x.Request.Body, x.Request.Size = "a", 9 },
		"a NUL character": func(x *reports.Exchange) { x.Curl += "a\x00b" },
	} {
		x := exchange("GET", "/v2/x", "", 200, "{}")
		r, f := chainOf(target, x)
		change(&r.Exchanges[0])
		assert.Error(t, script.Write(&strings.Builder{}, r, f), name)
	}
	none := &reports.Finding{}
	assert.Error(t, script.Write(&strings.Builder{}, r, none))
}

// TestNoResponse checks the output of a script if there is no server.
func TestNoResponse(t *testing.T) {
	r, f := chainOf("http://127.0.0.1:1", exchange("POST", "/threads", "{}", 200, `{"thread_id":"t-1"}`),
		exchange("GET", "/threads/t-1/state", "", 200, "{}"))
	f.Check = &reports.Check{Statuses: []string{"404"}}
	out, _, code := run(t, r, f)
	assert.Equal(t, 3, code)
	assert.Contains(t, out, "1. Send POST /threads without credentials: no response, but 200 in the test run\n")
	assert.Equal(t, "could not tell: step 1 had no response", lastLine(out))
}

// TestTimeout checks that after a timeout the script waits no longer than the suite did.
func TestTimeout(t *testing.T) {
	for want, x := range map[string]reports.Exchange{
		"--max-time 38 ": {Status: 200, MS: 4000}, "--max-time 4 ": {MS: 4002}, "--max-time 30 ": {MS: 3},
	} {
		x.Method, x.URL = http.MethodGet, "/v2/deployments"
		r, f := chainOf("http://target.example", x)
		var b strings.Builder
		require.NoError(t, script.Write(&b, r, f))
		assert.Contains(t, b.String(), want)
	}
}

// TestVerdict checks the last line of scripts and their exit codes, for the responses of a server to the requests that
// create a thread and ask for its state.
func TestVerdict(t *testing.T) {
	const thread = `{"thread_id":"t-2"}`
	leak := &reports.Check{Statuses: []string{"2XX"}, Lacks: []string{"agentconform-old-word-1."}, Contains: []string{"new", "t-1"}}
	refused := &reports.Check{Statuses: []string{"404", "5XX"}}
	listed := &reports.Check{Statuses: []string{"2XX"}, Requires: []string{"t-1"}, IDs: true}
	foreign := &reports.Check{Statuses: []string{"2XX"}, Lacks: []string{"t-0"}, IDs: true}
	for name, c := range map[string]struct {
		check         *reports.Check
		create, state string
		first         string // the first response to the last request, if it differs
		change        func(*reports.Finding)
		read          bool // the last request is a GET, which is repeated for 5 s
		code          int
		last          string
		says          string
	}{
		"the same status as before":  {check: refused, create: thread, state: "200 {}", code: 1, last: "expected 404 or 5xx, got 200: still failing"},
		"another wrong status":       {check: refused, create: thread, state: "422 {}", code: 1, last: "expected 404 or 5xx, got 422: still failing"},
		"an expected status":         {check: refused, create: thread, state: "404 {}", code: 0, last: "expected 404 or 5xx, got 404: now as expected"},
		"a status of expected class": {check: refused, create: thread, state: "503 {}", code: 0, last: "expected 404 or 5xx, got 503: now as expected"},
		"one of several responses": {check: refused, create: thread, state: "404 {}", code: 0,
			change: func(f *reports.Finding) { f.Count = 3 },
			says:   "\nThis is one of 3 responses that showed the finding. To judge all: agentconform replay "},
		"a flaky finding": {check: refused, create: thread, state: "404 {}", code: 3,
			change: func(f *reports.Finding) { f.Judged, f.Seen = 2, 1 },
			last:   "could not tell: as expected this time, but the test run saw the failure only in 1 of 2 attempts"},
		"the set-up fails": {check: refused, create: "422 " + thread, state: "404 {}", code: 3,
			last: "could not tell: the script does not go like the test run, first in step 1"},
		"the set-up has no id": {check: refused, create: "{}", state: "404 {}", code: 3,
			last: "could not tell: the response of step 1 has no thread_id, which the next request needs"},
		"the text is still there":          {check: leak, create: thread, state: "agentconform-RUN-word-1. new t-2", code: 1},
		"the text is gone":                 {check: leak, create: thread, state: "new t-2", code: 0},
		"a read stays right for some time": {check: leak, create: thread, state: "new t-2", code: 0, read: true},
		"all text is gone":                 {check: leak, create: thread, state: "t-2", code: 3},
		"an error without the text":        {check: leak, create: thread, state: "404 new t-2", code: 3},
		"an item is in the list":           {check: listed, create: thread, state: `[{"thread_id":"t-2"}]`, read: true, code: 0},
		"an item is missing": {check: listed, create: thread, state: `[{"thread_id":"t-1"}]`, read: true, code: 1,
			last: `expected 2xx with "t-2", got 200 without it: still failing`},
		"an item is missing at first": {check: listed, create: thread, first: "[]", state: `[{"thread_id":"t-2"}]`, read: true, code: 3,
			last: "could not tell: as expected only after some time"},
		"an error in place of a list":   {check: listed, create: thread, state: "503 {}", read: true, code: 3},
		"a missing item after a write":  {check: listed, create: thread, state: "[]", code: 3},
		"an id that the script creates": {check: foreign, create: thread, state: "[]", code: 3},
		"another exchange shows it": {check: refused, create: thread, state: "404 {}", code: 3,
			change: func(f *reports.Finding) { f.Exchange = 1 }, last: "compare with: expected , got  in the test run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var removed, id string
			reads, method := 0, http.MethodPost
			if c.read {
				method = http.MethodGet
			}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				body, _ := io.ReadAll(r.Body)
				response := c.create
				switch {
				case r.Method == http.MethodDelete:
					removed += r.URL.Path
				case r.URL.Path == "/threads":
					id = regexp.MustCompile(`[0-9]+-[0-9]+`).FindString(string(body))
				default:
					reads++
					response = strings.ReplaceAll(c.state, "RUN", id)
					if reads == 1 && c.first != "" {
						response = c.first
					}
				}
				status, rest, _ := strings.Cut(response, " ")
				if code, err := strconv.Atoi(status); err == nil {
					w.WriteHeader(code)
					response = rest
				}
				_, _ = w.Write([]byte(response))
			}))
			defer s.Close()
			r, f := chainOf(s.URL, exchange("POST", "/threads", `{"word":"agentconform-old-word-1."}`, 200, `{"thread_id":"t-1"}`),
				exchange(method, "/threads/t-1/state", "", 200, "{}"))
			f.Check = c.check
			if c.change != nil {
				c.change(f)
			}
			out, log, code := run(t, r, f)
			assert.Equal(t, c.code, code, out+log)
			assert.Equal(t, c.read, reads > 1)
			if c.last != "" {
				assert.Equal(t, c.last, lastLine(out))
			}
			assert.Contains(t, out, c.says)
			if c.create == thread {
				assert.Equal(t, "/threads/t-2", removed)
				assert.Contains(t, out, "\nremoved 1 of 1 created objects (KEEP=1 keeps them)\n")
			}
			if c.code == 1 {
				removed = ""
				out, _, _ = run(t, r, f, "KEEP=1")
				assert.Empty(t, removed)
				assert.Contains(t, out, "\nKEEP=1: 1 created objects stay at the server\n")
			}
		})
	}
}

// TestHold checks that a request for which a run must be in progress is sent before its end, and a later one after it.
func TestHold(t *testing.T) {
	start := exchange("POST", "/threads/t/runs", `{"input":"wait=300 word"}`, 200, `{}`)
	start.Operation, start.AtMS, start.MS = "create-run", 10, 5
	early, late := exchange("GET", "/early", "", 200, "{}"), exchange("GET", "/late", "", 200, "{}")
	early.AtMS, late.AtMS = 200, 400
	r, f := chainOf("http://target.example", start, early, late)
	var b strings.Builder
	require.NoError(t, script.Write(&b, r, f))
	assert.Contains(t, b.String(), `"wait=5000 word"`)
	assert.Regexp(t, `(?s)step 1 .*\n  in_time 1 5\n  poll 2 .*\n  until_end 1 5\n  poll 3 `, b.String())
}

// inert matches text that a shell does not interpret: texts in quotes, and comments outside of them.
var inert = regexp.MustCompile(`(?m)'[^']*'|\\'|^#.*$`)

// harmless matches the remaining lines: words of this package, names of variables, and numbers.
var harmless = regexp.MustCompile(`^ *(` + strings.Join([]string{
	`need AGENTCONFORM_[A-Z0-9_]+`, `wait( "\$sent\d+")?`, `take \w+ \d+ \w+ \d+`, `sent\d+=\$!`, `(in_time|until_end) \d+ \d+`, `(compare|decide) \d+ *`,
	`statuses= contains=("\$\w+")* lacks=("\$\w+")* requires=("\$\w+")* silent= # what the next response must be like`,
	`((like= )?(new= )?poll \d+ \d+  \d+|step \d+ (\d+|-) |watch \d+  \d+ ) *curl --max-time \d+( -X [A-Z]+| -H| --data-raw| --path-as-is|"\$\w+"|` +
		`"\$\{AGENTCONFORM_[A-Z0-9_]+(~~|%\?)?\}"|"\$\(json "\$\{?AGENTCONFORM_[A-Z0-9_]+(~~|%\?)?\}?"\)"| )*( &)?`,
}, "|") + `)?$`)

// FuzzWrite checks that a shell runs no text of a result.
func FuzzWrite(f *testing.F) {
	create := `{"name":"agentconform-old-d","secrets":[{"name":"n","value":"$AGENTCONFORM_S"}]}`
	f.Add("POST", "/v2/deployments?a='x", create, "X-Api-Key", "$AGENTCONFORM_K", `{"id":"d-1","status":"DEPLOYED"}`, "/v2/deployments/d-1", "old", uint16(200))
	f.Add("GET", "/$(touch x)", "`touch x`", "A", "'; touch x; '", `{"id":"'; touch x\n","a_id":12,"status":"BUILDING"}`, "/12/$HOME", "a\nb", uint16(0))
	f.Add("GET", "/\u2028\nrm -rf", "${AGENTCONFORM_S~~}", "X-Api-Key", "${AGENTCONFORM_S%?}", `{"status":"a:b c -- $(x)"}`, "\r\n", "run-1", uint16(429))
	f.Fuzz(func(t *testing.T, method, path, body, name, value, response, next, run string, status uint16) {
		if !regexp.MustCompile(`^[A-Z]+$`).MatchString(method) {
			return // the client does not send other methods
		}
		first := exchange(method, path, body, int(status), response)
		first.Request.Headers = map[string][]string{name: {value}}
		first.Request.Secrets = []reports.SecretPlace{{Header: name}, {Pointer: "/secrets/0/value"}}
		r, finding := chainOf("http://target.example", first, exchange("GET", next, "", int(status), response), exchange(method, next, response, 200, body))
		r.Run.ID, finding.Requirement, finding.Pointer = run, value, path
		finding.Summary, finding.Expected, finding.Actual, finding.Step = body, value, response, name
		if status%2 == 0 {
			finding.Check = &reports.Check{Statuses: []string{value}, Contains: []string{name}, Lacks: []string{body, response}}
		}
		var b strings.Builder
		if script.Write(&b, r, finding) != nil {
			return
		}
		header, steps, found := strings.Cut(b.String(), "\nmain() {\n")
		require.True(t, found)
		for line := range strings.SplitSeq(header, "\n") {
			require.Regexp(t, "^(#|$)", line)
		}
		steps, rest, found := strings.Cut(steps, "\n}\n\n# need ")
		require.True(t, found)
		require.NotContains(t, b.String(), "\x00")
		_, assignments, found := strings.Cut(rest, "\nset -eu\n")
		require.True(t, found)
		require.Regexp(t, `\Acommand=\n`, inert.ReplaceAllString(assignments, ""))
		steps = strings.ReplaceAll(inert.ReplaceAllString(steps, ""), " \\\n", "")
		for line := range strings.SplitSeq(steps, "\n") {
			require.Regexp(t, harmless, line, "in\n%s", steps)
		}
	})
}
