package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// waitFlag says how long a command waits for a target that is being started.
type waitFlag struct{ limit time.Duration }

func (w *waitFlag) add(c *cobra.Command) {
	c.Flags().DurationVar(&w.limit, "wait", 0, "wait until the target answers anything over HTTP, at most for this time, such as 60s (0: do not wait)")
}

func (w *waitFlag) check() error {
	if w.limit < 0 {
		return fmt.Errorf("--wait %s: give a duration above zero, such as 60s", w.limit)
	}
	return nil
}

// await waits, and ends the command with the code for an incomplete run where no answer comes in time.
func (w *waitFlag) await(ctx context.Context, cfg *config.Config, tell func(format string, args ...any)) error {
	if w.limit == 0 {
		return nil
	}
	addresses := slices.DeleteFunc([]string{cfg.Target, cfg.AgentTarget}, func(address string) bool { return address == "" })
	tell("waiting for %s, at most %s", safe.Line(strings.Join(addresses, " and ")), w.limit)
	if err := steps.Await(ctx, cfg, w.limit); err != nil {
		return &exit{exitIncomplete, fmt.Errorf("waiting for the target: %w", err)}
	}
	return nil
}
