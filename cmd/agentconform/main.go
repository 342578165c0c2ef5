// Command agentconform is a conformance test suite for the deployment control plane and agent server interface. Start
// reading with execute in command.go; each subcommand has its own file.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/steps"
)

func main() {
	// Without this, a write to standard output or error ends the process if the pipe is closed. With it, the write
	// returns an error.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	cobra.EnableCommandSorting = false
	os.Exit(execute(untilSignalled(), os.Args[1:], os.Stdin, output{os.Stdout}, output{os.Stderr}))
}

// untilSignalled returns a context that ends at the first signal, so that a test run can write its reports. A second
// signal ends the process immediately. SIGHUP has no effect if it was ignored when the process was started (nohup).
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

// output is standard output or standard error. It discards writes after the reader of a pipe has ended ("agentconform
// run | head"), so that the command continues and removes what it created.
type output struct{ file *os.File }

// Fd returns the descriptor of the file, which shows whether the file is a terminal.
func (o output) Fd() uintptr { return o.file.Fd() }

// Write implements io.Writer. It is safe for concurrent use.
func (o output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		return len(p), nil
	}
	return n, err
}
