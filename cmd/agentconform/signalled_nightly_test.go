//go:build nightly

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// waiting is a way to call a command so that it waits for something that never comes: for a FIFO that nobody writes to
// ({pipe}), for a target that does not answer ({silent}), or, once it has printed something, for what it does.
type waiting struct {
	args string
	code int // after a signal
}

// commandCalls say for each command how it can be made to wait, and how it is called to end by itself, with its exit
// code then. A command that never waits says why.
var commandCalls = map[string]struct {
	waits []waiting
	never string
	ends  string
	code  int
}{
	"run": {waits: []waiting{{"--config {pipe}", exitIncomplete}, {"--baseline {pipe} --config {config}", exitIncomplete}, {"--target {silent} --out out", exitIncomplete},
		{"--target {silent} --wait 5m --out out", exitIncomplete}}, ends: "--config {config} --only CP-LIST-1 --out out --format json", code: exitIncomplete},
	"init":    {waits: []waiting{{"--target {silent} --output new.yaml", exitIncomplete}}, ends: "--target {target} --output new.yaml"},
	"doctor":  {waits: []waiting{{"--config {pipe}", exitIncomplete}, {"--target {silent}", exitIncomplete}}, ends: "--config {config}"},
	"serve":   {waits: []waiting{{"", exitConformant}}, ends: "--pace -1s", code: exitUsage},
	"prove":   {waits: []waiting{{"--only everything-is-not-found --out proof", exitIncomplete}}, ends: "--list"},
	"replay":  {waits: []waiting{{"CP-LIST-1 --config {pipe}", exitIncomplete}, {"{result} --target {silent}", exitIncomplete}}, ends: "{result} --config {config}", code: exitIncomplete},
	"exec":    {waits: []waiting{{"--config {pipe} -- true", exitIncomplete}}, ends: "--config {config} -- true"},
	"clean":   {waits: []waiting{{"--config {pipe}", exitIncomplete}, {"--config {config} --ledger {pipe}", exitIncomplete}}, ends: "--config {config} --ledger {ledger}"},
	"compare": {never: "it reads regular files only", ends: "{result} {result}"},
	"list":    {never: "it reads nothing", ends: "--format markdown"}, "explain": {never: "it reads nothing", ends: "CP-LIST-1"},
	"schema": {never: "it reads nothing"}, "completion": {never: "it reads nothing", ends: "bash"}, "version": {never: "it reads nothing"},
	"help": {never: "it reads nothing", ends: "run"}, "config": {never: "it is a topic of help, and reads nothing"},
}

// TestEveryCommandHasACall: a new command says how it waits.
func TestEveryCommandHasACall(t *testing.T) {
	names := map[string]bool{}
	for _, c := range newRoot(streams{}).Commands() {
		names[c.Name()] = true
		how, known := commandCalls[c.Name()]
		assert.True(t, known, "the command %s has no row in commandCalls", c.Name())
		assert.NotEqual(t, how.never == "", len(how.waits) == 0, "%s waits, or says why it does not", c.Name())
	}
	for name := range commandCalls {
		assert.True(t, names[name], "there is no command %s", name)
	}
}

// callers are what calls are filled with.
type callers struct {
	*scene
	asked   chan struct{} // by the silent target
	replace *strings.Replacer
}

func newCallers(t *testing.T) *callers {
	t.Helper()
	c := &callers{scene: stage(t), asked: make(chan struct{}, 100)}
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case c.asked <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	pipe := filepath.Join(c.folder, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	c.replace = strings.NewReplacer("{pipe}", pipe, "{silent}", silent.URL, "{target}", c.target, "{config}", c.config,
		"{result}", c.write(t, "given.json", c.result(t, nil)), "{ledger}", c.write(t, "given.jsonl", ""))
	return c
}

// command is a process of the program, in a folder of its own.
func (c *callers) command(t *testing.T, name, args string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute) // for a process that hangs
	t.Cleanup(cancel)
	p := exec.CommandContext(ctx, "agentconform", append([]string{name}, strings.Fields(c.replace.Replace(args))...)...)
	p.Dir = t.TempDir()
	p.Env = append(os.Environ(), "AGENTCONFORM_CREDENTIALS_API_KEY="+forgedKey, "NO_COLOR=1", "GITHUB_STEP_SUMMARY=")
	return p
}

// noticed is written to by a process, and tells of the first time.
type noticed struct {
	mu    sync.Mutex
	text  bytes.Buffer
	first chan struct{}
}

func (n *noticed) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.text.Len() == 0 {
		close(n.first)
	}
	return n.text.Write(p)
}

// TestASignalEndsEveryCommand waits until the command waits, and sends it each signal.
func TestASignalEndsEveryCommand(t *testing.T) {
	t.Parallel()
	signals := []os.Signal{syscall.SIGTERM, os.Interrupt}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	for name, how := range commandCalls {
		for _, w := range how.waits {
			for _, s := range signals {
				t.Run(name+" "+w.args+" "+s.String(), func(t *testing.T) {
					t.Parallel()
					c := newCallers(t)
					p := c.command(t, name, w.args)
					printed := &noticed{first: make(chan struct{})}
					p.Stdout, p.Stderr = printed, printed
					require.NoError(t, p.Start())
					ended := make(chan struct{})
					go func() { defer close(ended); _ = p.Wait() }()
					opened := make(chan struct{})
					if strings.Contains(w.args, "{pipe}") {
						go func() { // opening it waits for the reader
							if f, err := os.OpenFile(c.replace.Replace("{pipe}"), os.O_WRONLY, 0); err == nil {
								close(opened)
								<-ended
								_ = f.Close()
							}
						}()
					} else if !strings.Contains(w.args, "{silent}") {
						opened = printed.first
					}
					select {
					case <-opened:
					case <-c.asked:
					case <-ended:
						require.Fail(t, "it did not wait", printed.text.String())
					}
					require.NoError(t, p.Process.Signal(s))
					<-ended
					assert.Equal(t, w.code, p.ProcessState.ExitCode(), printed.text.String())
				})
			}
		}
	}
}

// TestEveryCommandOutlivesItsReader calls each command where nobody reads what it prints: it goes on to its end, with
// its exit code.
func TestEveryCommandOutlivesItsReader(t *testing.T) {
	t.Parallel()
	c := newCallers(t)
	for name, how := range commandCalls {
		t.Run(name, func(t *testing.T) {
			p := c.command(t, name, how.ends)
			reader, writer, err := os.Pipe()
			require.NoError(t, err)
			require.NoError(t, reader.Close())
			p.Stdout, p.Stderr = writer, writer
			require.NoError(t, p.Start())
			require.NoError(t, writer.Close())
			_ = p.Wait()
			assert.Equal(t, how.code, p.ProcessState.ExitCode())
		})
	}
}
