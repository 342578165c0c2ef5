package main

import (
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// output writes to a file of the process. After the reader of a pipe has gone ("agentconform run | head"), it drops what is written: the
// command goes on to its end, and removes what it created.
type output struct {
	file   *os.File
	closed atomic.Bool
}

func newOutput(f *os.File) *output { return &output{file: f} }

// Fd is the descriptor of the file, which tells whether it is a terminal.
func (o *output) Fd() uintptr { return o.file.Fd() }

// Write implements io.Writer. It may be used by many goroutines.
func (o *output) Write(p []byte) (int, error) {
	if o.closed.Load() {
		return len(p), nil
	}
	n, err := o.file.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		o.closed.Store(true)
		return len(p), nil
	}
	return n, err
}

// survivePipes makes a write to a closed pipe an error of that write. Without it, one to standard output or standard error ends the
// process.
func survivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
