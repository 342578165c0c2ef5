// Command agentconform is a conformance test suite for the deployment control plane and agent server interface.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/agentconform/agentconform/steps"
)

func main() {
	os.Exit(execute(untilSignalled(), os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// untilSignalled returns a context that the first signal ends, so that the run can finish its reports. From then on a
// second one ends the process at once.
func untilSignalled() context.Context {
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		by := "Ctrl-C"
		if <-signals == syscall.SIGTERM {
			by = "SIGTERM"
		}
		signal.Stop(signals)
		stop(&steps.Stopped{By: by})
	}()
	return ctx
}
