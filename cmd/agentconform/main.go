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
	survivePipes()
	os.Exit(execute(untilSignalled(), os.Args[1:], streams{in: os.Stdin, out: newOutput(os.Stdout), err: newOutput(os.Stderr)}))
}

// untilSignalled returns a context that the first signal ends, so that the run can finish its reports. From then on a
// second one ends the process at once. SIGHUP is a signal like the others, unless whoever started the process had it ignored (nohup).
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
