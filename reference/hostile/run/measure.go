package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// measureCommand makes this program measure another one. A process of its own is needed: on Linux the peak of a child begins with
// that of the process that has started it, and this one serves large answers.
const measureCommand = "measure"

// usage is what a program has used.
type usage struct {
	Exit    int     `json:"exit"`
	Seconds float64 `json:"seconds"` // of wall time
	CPU     float64 `json:"cpu"`     // seconds
	Bytes   int64   `json:"bytes"`   // of memory, at most
	Killed  bool    `json:"killed"`  // it did not end in time
}

// measure runs a program, writes what it has used into a file, and ends. The arguments are the file, the longest time, and the program
// with its arguments.
func measure(arguments []string) {
	if err := measured(arguments); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func measured(arguments []string) error {
	limit, err := time.ParseDuration(arguments[1])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, arguments[2], arguments[3:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	start := time.Now()
	err = c.Run()
	used := usage{Seconds: time.Since(start).Seconds(), Killed: ctx.Err() != nil}
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return err
	}
	used.Exit = c.ProcessState.ExitCode()
	used.CPU = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	if r, known := c.ProcessState.SysUsage().(*syscall.Rusage); known {
		used.Bytes = r.Maxrss
		if runtime.GOOS != "darwin" { // which counts bytes
			used.Bytes *= 1 << 10
		}
	}
	text, err := json.Marshal(used)
	if err != nil {
		return err
	}
	return os.WriteFile(arguments[0], text, 0o644)
}
