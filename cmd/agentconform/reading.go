package main

import (
	"context"
	"fmt"

	"github.com/agentconform/agentconform/reports"
)

// reading reads something that may never come, as from a FIFO that nobody writes to. A signal ends the wait with exit code 3; the
// goroutine that reads then ends with the process. what is for the message, such as "the configuration".
func reading[T any](ctx context.Context, what string, read func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := read()
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, interrupted(ctx, "reading "+what)
	}
}

// interrupted is the error of a command that a signal ended before there was anything to report or to remove.
func interrupted(ctx context.Context, during string) error {
	return &exit{exitIncomplete, fmt.Errorf("%s: %w", during, context.Cause(ctx))}
}

// readResult reads a result file, until a signal comes.
func readResult(ctx context.Context, path string) (*reports.Result, error) {
	return reading(ctx, path, func() (*reports.Result, error) { return reports.ReadFile(path) })
}
