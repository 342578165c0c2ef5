// Command agentconform is a conformance test suite for the deployment control plane and agent server interface.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/agentconform/agentconform/steps"
)

func main() {
	// A write to a closed pipe is an error of that write. Without this, one to standard output or error ends the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(execute(untilSignalled(), os.Args[1:], os.Stdin, output{os.Stdout}, output{os.Stderr}))
}

// untilSignalled returns a context that the first signal ends, so that the run can finish its reports. From then on a
// second one ends the process at once. SIGHUP is a signal like the others, unless whoever started the process had it
// ignored (nohup).
func untilSignalled() context.Context {
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	names := map[os.Signal]string{os.Interrupt: "Ctrl-C", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}
	go func() {
		by := names[<-signals]
		signal.Stop(signals)
		stop(&steps.Stopped{By: by})
	}()
	return ctx
}

// output is a file of the process. After the reader of a pipe has gone ("agentconform run | head"), it drops what is
// written: the command goes on to its end, and removes what it created.
type output struct{ file *os.File }

// Fd is the descriptor of the file, which tells whether it is a terminal.
func (o output) Fd() uintptr { return o.file.Fd() }

// Write implements io.Writer. It may be used by many goroutines.
func (o output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		return len(p), nil
	}
	return n, err
}

// writeJSON writes a value as people read it.
func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
