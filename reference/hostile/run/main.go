// Command run judges each hostile target with the binary, and measures the time and the memory of that from outside.
//
//	go run ./reference/hostile/run -bin bin/agentconform -out out/hostile
//
// It prints a line for each, and writes each run's reports and console below the folder of -out. The exit code is 1 if a verdict,
// an exit code or a result is wrong, or a bound is exceeded, and 2 for wrong usage.
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
	flag.IntVar(&b.seconds, "seconds", 2, "bound: `seconds` beyond --timeout")
	flag.IntVar(&b.megabytes, "megabytes", 150, "bound: `megabytes` of memory")
	flag.Parse()
	modes, err := selected(hostile.All(), only, sample)
	if err == nil {
		err = os.MkdirAll(b.out, 0o755)
	}
	if err != nil || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "hostile:", err, flag.Args())
		os.Exit(2)
	}
	rows := b.all(ctx, modes)
	wrong := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return len(r.Wrong) == 0 })
	fmt.Printf("%d hostile modes, %d wrong\n", len(rows), len(wrong))
	if len(wrong) > 0 {
		os.Exit(1)
	}
}

// selected are the modes with the names or of the groups, and of these a sample: every nth of the table, so that each group is in it.
func selected(all []hostile.Mode, only string, sample int) (chosen []hostile.Mode, err error) {
	names := strings.Split(only, ",")
	for _, m := range all {
		if only == "" || slices.Contains(names, m.Name) || slices.Contains(names, m.Group) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-only %s: no mode and no group has one of these names", only)
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

// all judges the modes, some at a time, and returns the rows in the order of the table. The bound of time is that of a run which has
// the machine for itself: a run that was late beside another is measured once more, alone.
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
	_ = all.Wait() // what is wrong is in the rows
	for i, m := range modes {
		if rows[i].late {
			rows[i] = b.judge(ctx, m)
		}
	}
	return rows
}
