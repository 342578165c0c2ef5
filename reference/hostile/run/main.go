// Command run runs the binary against each hostile target, and measures the time and the memory of the process.
//
//	go run ./reference/hostile/run -bin bin/agentconform -out out/hostile
//
// It prints a line for each target, and writes the reports and the console of each test run below the folder of -out. The
// exit code is 1 if a verdict, an exit code or a result is wrong or a limit is exceeded, and 2 for wrong usage.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/agentconform/agentconform/reference/hostile"
)

func main() {
	if len(os.Args) > 4 && os.Args[1] == measureCommand {
		if err := measure(os.Args[2], os.Args[3], os.Args[4:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := bench{}
	var only string
	var sample int
	flag.StringVar(&b.bin, "bin", "bin/agentconform", "`file` of the binary")
	flag.StringVar(&b.out, "out", "out/hostile", "`folder` for the reports")
	flag.StringVar(&only, "only", "", "comma-separated `names` of modes or groups")
	flag.IntVar(&sample, "sample", 0, "`number` of modes, spread over the groups (0: all)")
	flag.IntVar(&b.seconds, "seconds", 2, "limit: `seconds` after --timeout")
	flag.IntVar(&b.megabytes, "megabytes", 250, "limit: `megabytes` of memory")
	flag.Parse()
	if flag.NArg() > 0 {
		fail(fmt.Errorf("unexpected arguments: %s", strings.Join(flag.Args(), " ")))
	}
	modes, err := selected(hostile.All(), only, sample)
	if err != nil {
		fail(err)
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		fail(err)
	}
	rows := b.all(ctx, modes)
	wrong := 0
	for _, r := range rows {
		if len(r.Problems) > 0 {
			wrong++
		}
	}
	fmt.Printf("%d hostile modes, %d wrong\n", len(rows), wrong)
	if wrong > 0 {
		os.Exit(1)
	}
}

// fail prints an error and exits with the code for wrong usage.
func fail(err error) {
	fmt.Fprintln(os.Stderr, "hostile:", err)
	os.Exit(2)
}

// selected returns the modes with the given names or groups. If sample is positive, it returns that many of them, evenly
// spread over the table.
func selected(all []hostile.Mode, only string, sample int) (chosen []hostile.Mode, err error) {
	names := strings.Split(only, ",")
	for _, m := range all {
		if only == "" || slices.Contains(names, m.Name) || slices.Contains(names, m.Group) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-only %s: unknown names of modes or groups", only)
	}
	if sample <= 0 || sample >= len(chosen) {
		return chosen, nil
	}
	var some []hostile.Mode
	for i := range sample {
		some = append(some, chosen[i*len(chosen)/sample])
	}
	return some, nil
}

// all judges the modes and returns the rows in the order of the table. Some test runs are concurrent. The time limit
// assumes an idle machine, so a test run that was late is repeated when the others have ended.
func (b *bench) all(ctx context.Context, modes []hostile.Mode) []row {
	rows := make([]row, len(modes))
	var all errgroup.Group
	all.SetLimit(jobs)
	for i, m := range modes {
		all.Go(func() error {
			rows[i] = b.judge(ctx, m)
			return nil
		})
	}
	_ = all.Wait() // never an error: the rows contain the problems
	for i, m := range modes {
		if rows[i].late {
			rows[i] = b.judge(ctx, m)
		}
	}
	return rows
}
