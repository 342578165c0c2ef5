package script_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

// TestCommandsOfTheShell checks that a script judges nothing if a command fails, and that it waits for a slow one.
func TestCommandsOfTheShell(t *testing.T) {
	target, _ := server(t, map[string][]string{"POST /threads/t/runs": {"{}"}, "GET /threads/t/state": {"{}"}})
	start := exchange("POST", "/threads/t/runs", `{"input":"wait=300 word"}`, 200, `{}`)
	start.Operation, start.AtMS, start.MS = "create-run", 10, 1000
	state := exchange("GET", "/threads/t/state", "", 200, "{}")
	state.AtMS = 200
	r, f := chainOf(target, start, state)
	f.Check = &reports.Check{Statuses: []string{"404"}}
	for date, want := range map[string]int{"exit 1": unknown, `sleep 0.3; PATH=${PATH#*:} date "$@"`: 1} {
		commands := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(commands, "date"), []byte("#!/bin/sh\n"+date), 0o700)) //nolint:gosec // a program
		out, log, code := run(t, r, f, "PATH="+commands+":"+os.Getenv("PATH"))
		assert.Equal(t, want, code, out+log)
		assert.NotEmpty(t, lastLine(out))
	}
}

// TestHostileResponse checks that a script prints no control characters of the server, and not all of a large response.
func TestHostileResponse(t *testing.T) {
	evil := "\x1b[2J\u009b31m\x00\a"
	target, _ := server(t, map[string][]string{"POST /threads": {`{"thread_id":"` + evil + `"}`},
		"GET /state": {evil + "é" + strings.Repeat("x", 1<<20)}})
	r, f := chainOf(target, exchange("POST", "/threads", "{}", 200, `{"thread_id":"t-1"}`), exchange("GET", "/state", "", 200, "{}"))
	f.Check = &reports.Check{Statuses: []string{"404"}, Lacks: []string{"t-1"}}
	out, log, _ := run(t, r, f)
	assert.NotRegexp(t, `[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}]`, out)
	assert.Contains(t, out, "é", log)
	assert.Less(t, len(out), 1<<16)
}

// server returns a server that records each request. It returns the responses of an operation in turn, and repeats the
// last one.
func server(t *testing.T, responses map[string][]string) (url string, seen func() []string) {
	var mu sync.Mutex
	var requests []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, strings.TrimSpace(strings.Join([]string{r.Method, r.URL.RequestURI(), r.Header.Get("X-Api-Key"), string(body)}, " ")))
		list := responses[r.Method+" "+r.URL.Path]
		if len(list) == 0 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if len(list) > 1 {
			responses[r.Method+" "+r.URL.Path] = list[1:]
		}
		_, _ = w.Write([]byte(list[0]))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return requests }
}
