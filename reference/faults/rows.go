package faults

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/deviate"
)

//go:embed rows/*.yaml
var files embed.FS

// rows are the faults and equivalent mutants that are data.
var rows = sync.OnceValues(func() (all []*deviate.Row, err error) {
	names, err := fs.Glob(files, "rows/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		some, err := deviate.Load(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, check(all)
})

// check tells of a name that two rows have, and of a requirement that does not exist.
func check(all []*deviate.Row) error {
	catalogue, err := features.Load()
	if err != nil {
		return err
	}
	named := map[string]string{}
	for _, row := range all {
		name := row.Name + row.Equivalent
		if at, twice := named[name]; twice {
			return fmt.Errorf("%s: %s is the name of the row at %s too", row.Where, name, at)
		}
		named[name] = row.Where
		for _, id := range slices.Concat([]string{row.Fails}, slices.Sorted(maps.Keys(row.Also)),
			slices.Sorted(maps.Keys(row.Unjudged))) {
			if id != "" && catalogue.Find(id) == nil {
				return fmt.Errorf("%s: %s fails %s, which is not a requirement", row.Where, name, id)
			}
		}
	}
	return nil
}

// written are all rows.
func written() []*deviate.Row {
	all, err := rows()
	if err != nil {
		panic(fmt.Sprintf("the catalogue of faults: %v", err)) // it is a part of the program, and a test reads it
	}
	return slices.Clone(all)
}

// Around is the layer of a row, which counts the exchanges that it changes.
func Around(row *deviate.Row, count *deviate.Count) Layer {
	return func(o *reference.Options) {
		o.Pace = max(o.Pace, row.Pace)
		if row.Queued > 0 {
			o.WrapAgent = append(o.WrapAgent, queued(row.Queued))
		}
		o.WrapHTTP = append(o.WrapHTTP, func(next http.Handler) http.Handler { return row.Around(next, count) })
	}
}

// queued delays the start of the third run of each thread.
func queued(delay time.Duration) func(*agentserver.Options) {
	return func(o *agentserver.Options) {
		var mu sync.Mutex
		runs := map[string]int{}
		starts := o.Starts
		o.Starts = func(ctx context.Context, thread string) {
			mu.Lock()
			runs[thread]++
			n := runs[thread]
			mu.Unlock()
			if n == 3 {
				pause(ctx, delay)
			}
			if starts != nil {
				starts(ctx, thread)
			}
		}
	}
}

// pause waits for the delay, or until the context ends.
func pause(ctx context.Context, delay time.Duration) {
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
}

// changing is the layer of a row of one change, for what is composed with layers.
func changing(when []string, do ...string) Layer {
	row, err := deviate.New("layer", when, do)
	if err != nil {
		panic(err) // it is a part of the program, and a test reads it
	}
	return Around(row, &deviate.Count{})
}

// around is a layer of middleware. Layers that are applied later are further out.
func around(middleware func(w http.ResponseWriter, r *http.Request, next http.Handler)) Layer {
	return func(o *reference.Options) {
		o.WrapHTTP = append(o.WrapHTTP, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { middleware(w, r, next) })
		})
	}
}

// compose applies several layers.
func compose(layers ...Layer) Layer {
	return func(o *reference.Options) {
		for _, l := range layers {
			l(o)
		}
	}
}
