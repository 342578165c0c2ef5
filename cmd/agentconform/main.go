// Command agentconform tells whether a server keeps the deployment control plane and agent server interface, and
// shows why not.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal lets the run finish its reports. From then on a second one ends the process at once.
	context.AfterFunc(ctx, func() {
		stop()
		fmt.Fprintln(os.Stderr, "ending; once more ends at once")
	})
	os.Exit(execute(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
