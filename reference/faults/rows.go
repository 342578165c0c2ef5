package faults

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"sync"

	"github.com/agentconform/agentconform/reference"
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
	return all, nil
})

// written returns the faults and the equivalent mutants that are rows.
func written() (broken []Fault, equivalent []EquivalentMutant) {
	found, err := rows()
	if err != nil {
		panic(fmt.Sprintf("the catalogue of faults: %v", err)) // it is a part of the program, and a test reads it
	}
	for _, row := range found {
		if row.Equivalent != "" {
			equivalent = append(equivalent, EquivalentMutant{
				Name: row.Equivalent, Differs: row.Differs, Place: row.Place, Edition: row.Edition,
				Also: row.Also, Apply: layerOf(row),
			})
			continue
		}
		broken = append(broken, Fault{
			Name: row.Name, Breaks: row.Breaks, Fails: row.Fails, Also: row.Also, Edition: row.Edition,
			Hangs: row.Hangs, Once: row.Once, Elsewhere: row.Elsewhere, Apply: layerOf(row),
		})
	}
	return broken, equivalent
}

func layerOf(row *deviate.Row) Layer {
	return func(o *reference.Options) {
		inner := o.WrapHTTP
		o.WrapHTTP = func(next http.Handler) http.Handler {
			if inner != nil {
				next = inner(next)
			}
			return row.Around(next, &deviate.Count{})
		}
	}
}
