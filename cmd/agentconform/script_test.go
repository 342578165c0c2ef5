package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/config"
)

// tests runs the tests in this process. The scripts start other processes.
type tests struct{ *testing.M }

// Run sets a memory limit, so that limitMemory does not set a lower one, with which the tests in this process would
// collect garbage continuously.
func (m tests) Run() int {
	_ = os.Setenv("GOMEMLIMIT", "700MiB") // a valid name
	debug.SetMemoryLimit(700 << 20)
	return m.M.Run()
}

// TestMemoryLimit checks that a variable takes precedence, also if it sets no limit.
func TestMemoryLimit(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	defer debug.SetMemoryLimit(limit)
	defer debug.SetGCPercent(percent)
	debug.SetMemoryLimit(math.MaxInt64)
	t.Setenv("GOMEMLIMIT", "off")
	limitMemory(8)
	assert.EqualValues(t, math.MaxInt64, debug.SetMemoryLimit(-1))
	t.Setenv("GOMEMLIMIT", "")
	limitMemory(8)
	assert.EqualValues(t, 135<<20, debug.SetMemoryLimit(-1))
	limitMemory(9)
	assert.EqualValues(t, 140<<20, debug.SetMemoryLimit(-1))
}

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"agentconform": main, "proxy": proxy, "badtarget": badTarget, "await": await, "startable": startable})
}

// TestScripts runs the commands as a user does.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Condition: func(condition string) (bool, error) {
			if condition != "hup-ignored" {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			return signal.Ignored(syscall.SIGHUP), nil // like nohup, so that the program also ignores the signal
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("GOGC", "400")
			listener, err := net.Listen("tcp", "127.0.0.1:0") // a port for a server that the program starts
			if err != nil {
				return err
			}
			e.Setenv("FREE", listener.Addr().String())
			return listener.Close()
		},
	})
}

// until serves until it is interrupted, and writes its address to the file.
func until(handler http.Handler, file string) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, []byte("http://"+listener.Addr().String()), 0o600); err != nil {
		panic(err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	<-ctx.Done()
	_ = server.Close()
}

// proxy FILE CONFIG serves a reverse proxy before the target of a configuration, and writes its own address to FILE.
func proxy() {
	cfg, err := config.Load(config.Sources{File: os.Args[2]})
	if err != nil {
		panic(err)
	}
	target, err := url.Parse(cfg.Target)
	if err != nil {
		panic(err)
	}
	until(httputil.NewSingleHostReverseProxy(target), os.Args[1])
}

// badTarget FILE KIND serves a server that does not implement the interface.
func badTarget() {
	kinds := map[string]http.HandlerFunc{
		"404": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"busy": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
		},
		"limited": limited(3),
		"kept":    kept,
		"html": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html><title>Welcome</title><h1>\x1b[31mWelcome</h1>")
		},
		"silent": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_ = os.WriteFile(os.Args[1]+".asked", []byte(r.URL.Path), 0o600)
			<-r.Context().Done()
		},
	}
	until(kinds[os.Args[2]], os.Args[1])
}

// startable ADDRESS KIND serves 404 at an address, for run -- COMMAND.
func startable() {
	address, kind := os.Args[1], os.Args[2]
	fmt.Println("\x1b[31mhello\x1b[0m from", os.Getenv("AGENTCONFORM_CREDENTIALS_API_KEY"), "with s3cret-of-the-script")
	var requests atomic.Int64
	handler := func(w http.ResponseWriter, r *http.Request) {
		if kind == "crash" && r.URL.Path != "/" && requests.Add(1) == 3 {
			os.Exit(7)
		}
		w.WriteHeader(http.StatusNotFound)
	}
	switch kind {
	case "dies":
		os.Exit(3)
	case "slow":
		time.Sleep(300 * time.Millisecond)
	case "noted":
		if err := os.WriteFile("started", []byte("yes"), 0o600); err != nil {
			panic(err)
		}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "forks":
		child := exec.Command(os.Args[0], address, "slow")
		if err := child.Start(); err != nil {
			panic(err)
		}
		return
	}
	panic(http.ListenAndServe(address, http.HandlerFunc(handler)))
}

// kept creates deployments, and never responds to requests to remove one.
func kept(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch r.Method {
	case http.MethodPost:
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id": %q, "latest_revision_id": %q}`, uuid.NewString(), uuid.NewString())
	case http.MethodDelete:
		<-r.Context().Done()
	default:
		_, _ = io.WriteString(w, `{"status": "BUILDING"}`)
	}
}

// limited asks to wait for a second in the first responses, and returns 404 afterwards.
func limited(few int64) http.HandlerFunc {
	var asked atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) <= few {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}
}

// await FILE waits until a program that runs in the background has written the file.
func await() {
	for range 1000 {
		if text, err := os.ReadFile(os.Args[1]); err == nil && strings.TrimSpace(string(text)) != "" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	panic("waited 20 s for " + os.Args[1])
}
