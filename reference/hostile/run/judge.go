package main

import (
	"context"
	"encoding/json"

	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/agentconform/agentconform/reference/hostile"
)

// bench runs the binary against modes.
type bench struct {
	bin, out  string
	seconds   int // the time that a test run may take after --timeout
	megabytes int // the memory that the process may use
}

const (
	jobs    = 2                // concurrent test runs
	timeout = 20 * time.Second // --timeout of each test run, in which a conformant target is judged on a busy machine
)

// row is the result of one test run.
type row struct {
	Name, Group, Verdict string
	Removal              float64 // time for the removal of created objects in seconds; it has a separate limit
	usage
	Problems []string
	late     bool // the test run exceeded the time limit while another one was running
}

// usage contains the exit code and the resource usage of a process.
type usage struct {
	Exit      int     `json:"exit"`
	Seconds   float64 `json:"seconds"`
	Megabytes int     `json:"megabytes"`
	Killed    bool    `json:"killed,omitempty"` // the process did not end in time
}

func (r *row) line() string {
	state := "ok"
	if len(r.Problems) > 0 {
		state = "WRONG"
	}
	s := fmt.Sprintf("%-5s %-10s %-34s %-14s %5.1f s, %4d MB", state, r.Group, r.Name, r.Verdict, r.Seconds, r.Megabytes)
	return strings.Join(append([]string{s}, r.Problems...), "; ")
}

// longestRemoval is the time limit for the removal of created objects, in seconds: 30 s of the suite, and one second for
// requests in flight.
const longestRemoval = 31

// killedAfter is the time after --timeout at which a test run is killed because it hangs.
const killedAfter = 60 * time.Second

// judge serves a mode, runs the binary against it, and prints the row.
func (b *bench) judge(ctx context.Context, m hostile.Mode) row {
	r := row{Name: m.Name, Group: m.Group}
	folder := filepath.Join(b.out, m.Name)
	console, err := b.run(ctx, m, folder, &r.usage)
	if err != nil {
		r.Problems = []string{err.Error()}
	} else {
		r.Problems = b.compared(m, &r, console, folder)
	}
	fmt.Println(r.line())
	return r
}

// run runs the binary against a mode and returns its output. Another process of this program measures it.
func (b *bench) run(ctx context.Context, m hostile.Mode, folder string, used *usage) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	server, err := hostile.Start(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	defer server.Close()
	keys, _ := json.Marshal(server.Config)         // cannot fail: texts, lists and maps only
	config := filepath.Join(folder, "config.yaml") // JSON is YAML
	if err := os.WriteFile(config, keys, 0o600); err != nil {
		return nil, err
	}
	measured := filepath.Join(folder, "usage.json")
	c := exec.CommandContext(ctx, self, measureCommand, measured, (timeout + killedAfter).String(),
		b.bin, "run", "--config", config, "--out", folder, "--timeout", timeout.String(), "--format", "plain")
	for _, v := range os.Environ() { // without the variables of the Makefile, as a user has it
		if !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "AGENTCONFORM_") {
			c.Env = append(c.Env, v)
		}
	}
	console, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("measuring the run: %w: %s", err, console)
	}
	text, err := os.ReadFile(measured)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, used); err != nil {
		return nil, fmt.Errorf("reading %s: %w", measured, err)
	}
	return console, os.WriteFile(filepath.Join(folder, "console.txt"), console, 0o644)
}

// measureCommand is the first argument of the process that measures the binary. It is not the process of the server: on
// Linux, the peak memory of a child includes the memory of its parent at the start, and the server needs much memory.
const measureCommand = "measure"

// measure runs a program with its arguments, kills it after a time, and writes its usage to a file.
func measure(file, most string, program []string) error {
	limit, err := time.ParseDuration(most)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, program[0], program[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	start := time.Now()
	if err := c.Run(); c.ProcessState == nil {
		return err
	}
	used := usage{Exit: c.ProcessState.ExitCode(), Seconds: time.Since(start).Seconds(), Killed: ctx.Err() != nil}
	if r, known := c.ProcessState.SysUsage().(*syscall.Rusage); known {
		used.Megabytes = int(r.Maxrss >> 10)
		if runtime.GOOS == "darwin" { // Maxrss is in bytes there, and in kilobytes elsewhere
			used.Megabytes >>= 10
		}
	}
	text, err := json.Marshal(used)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
