package main

import (
	"context"
	"encoding/json"
	"errors"
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

// bench is how modes are judged.
type bench struct {
	bin, out           string
	seconds, megabytes int // bounds: beyond --timeout, and of memory
}

const (
	jobs    = 2                // runs at the same time
	timeout = 10 * time.Second // --timeout of each run
)

// row is what one run has shown.
type row struct {
	Name, Group, Verdict string
	Removal              float64 // seconds in which the suite removed what it had created, which has a bound of its own
	usage
	Wrong []string
	late  bool // it was late beside other runs, and is measured once more without them
}

// usage is what a program has used.
type usage struct {
	Exit      int     `json:"exit"`
	Seconds   float64 `json:"seconds"`
	Megabytes int     `json:"megabytes"`
	Killed    bool    `json:"killed,omitempty"` // it did not end in time
}

// line is a row for the console.
func (r *row) line() string {
	state := "ok"
	if len(r.Wrong) > 0 {
		state = "WRONG"
	}
	s := fmt.Sprintf("%-5s %-10s %-34s %-14s %5.1f s, %4d MB", state, r.Group, r.Name, r.Verdict, r.Seconds, r.Megabytes)
	return strings.Join(append([]string{s}, r.Wrong...), "; ")
}

// longestRemoval is the bound, in seconds, of removing what a run has created, and a second in which what is going on ends.
const longestRemoval = 31

// killedAfter is the time beyond --timeout after which a run is killed: it hangs.
const killedAfter = 60 * time.Second

// judge serves a mode, judges it, and prints the row.
func (b *bench) judge(ctx context.Context, m hostile.Mode) row {
	r := row{Name: m.Name, Group: m.Group}
	folder := filepath.Join(b.out, m.Name)
	if console, err := b.run(ctx, m, folder, &r.usage); err != nil {
		r.Wrong = []string{err.Error()}
	} else {
		r.Wrong = b.compared(m, &r, console, folder)
	}
	fmt.Println(r.line())
	return r
}

// run runs the binary against a mode, below a process that measures it, and returns what it printed.
func (b *bench) run(ctx context.Context, m hostile.Mode, folder string, used *usage) ([]byte, error) {
	self, err := os.Executable()
	if err := errors.Join(err, os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return nil, err
	}
	server, err := hostile.Start(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	defer server.Close()
	keys, _ := json.Marshal(server.Config)         // texts, lists and maps only
	config := filepath.Join(folder, "config.yaml") // JSON is YAML
	if err := os.WriteFile(config, keys, 0o600); err != nil {
		return nil, err
	}
	measured := filepath.Join(folder, "usage.json")
	c := exec.CommandContext(ctx, self, measureCommand, measured, (timeout + killedAfter).String(),
		b.bin, "run", "--config", config, "--out", folder, "--timeout", timeout.String(), "--format", "plain")
	for _, v := range os.Environ() { // that of a user: without what the Makefile sets for compilers
		if !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "AGENTCONFORM_") {
			c.Env = append(c.Env, v)
		}
	}
	console, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("measuring the run: %w: %s", err, console)
	}
	text, err := os.ReadFile(measured)
	return console, errors.Join(err, json.Unmarshal(text, used), os.WriteFile(filepath.Join(folder, "console.txt"), console, 0o644))
}

// measureCommand makes this program measure another one. A process of its own is needed: on Linux the peak of a child begins with
// that of the process that has started it, and this one serves large answers.
const measureCommand = "measure"

// measure runs a program with its arguments for at most a time, and writes what it has used into a file.
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
		if runtime.GOOS == "darwin" { // which counts bytes
			used.Megabytes >>= 10
		}
	}
	text, err := json.Marshal(used)
	return errors.Join(err, os.WriteFile(file, text, 0o644))
}
