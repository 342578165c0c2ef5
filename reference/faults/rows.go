package faults

import (
	"bytes"
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

// rows reads and checks the rows of all files.
var rows = sync.OnceValues(func() ([]*deviate.Row, error) {
	all, err := read("", deviate.Load)
	if err != nil {
		return nil, err
	}
	return all, check(all)
})

// read returns the rows of the files whose content includes a text.
func read(text string, load func(name string, content []byte) ([]*deviate.Row, error)) (all []*deviate.Row, err error) {
	names, err := fs.Glob(files, "rows/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		content, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(content, []byte(text)) {
			continue
		}
		some, err := load(name, content)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// check returns an error if two rows have the same name, or if a row names an unknown requirement.
func check(all []*deviate.Row) error {
	requirements, err := features.Load()
	if err != nil {
		return err
	}
	named := map[string]string{}
	for _, row := range all {
		name := row.Name + row.Equivalent
		if at, twice := named[name]; twice {
			return fmt.Errorf("%s: the name %s is used twice, first at %s", row.Where, name, at)
		}
		named[name] = row.Where
		for _, id := range slices.Concat([]string{row.Fails}, slices.Sorted(maps.Keys(row.Also)),
			slices.Sorted(maps.Keys(row.Unjudged))) {
			if id != "" && requirements.Find(id) == nil {
				return fmt.Errorf("%s: %s: unknown requirement %s", row.Where, name, id)
			}
		}
	}
	return nil
}

func catalogue() []*deviate.Row {
	all, err := rows()
	if err != nil {
		panic(fmt.Sprintf("catalogue of faults: %v", err)) // impossible: the files are embedded, and a test reads them
	}
	return slices.Clone(all)
}

// Around returns the layer of a row. The layer counts the exchanges that it changes.
func Around(row *deviate.Row, count *deviate.Count) Layer {
	return func(o *reference.Options) {
		o.Pace = max(o.Pace, row.Pace)
		if row.Queued > 0 {
			o.WrapAgent = append(o.WrapAgent, queued(row.Queued))
		}
		o.WrapHTTP = append(o.WrapHTTP, func(next http.Handler) http.Handler { return row.Around(next, count) })
	}
}

// queued returns a change of the agent server that delays the start of the third run of each thread.
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

// changing returns the layer of a row with one change, for use in compose.
func changing(when []string, do ...string) Layer {
	return changingBy(deviate.Change{When: when, Do: do})
}

// changingBy returns a layer of changes with a common memory.
func changingBy(changes ...deviate.Change) Layer {
	row := &deviate.Row{Name: "layer", Changes: changes}
	if err := row.Read(); err != nil {
		panic(err) // impossible: the texts are constants, and a test reads them
	}
	return Around(row, &deviate.Count{})
}

// around returns a layer of middleware. A layer that is applied later wraps those applied before.
func around(middleware func(w http.ResponseWriter, r *http.Request, next http.Handler)) Layer {
	return func(o *reference.Options) {
		o.WrapHTTP = append(o.WrapHTTP, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { middleware(w, r, next) })
		})
	}
}

// compose returns a layer that applies several layers.
func compose(layers ...Layer) Layer {
	return func(o *reference.Options) {
		for _, l := range layers {
			l(o)
		}
	}
}
