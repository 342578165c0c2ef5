package script

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
)

// Record is a value of the host: named fields that a script reads as r.name or r["name"], and cannot change.
type Record struct {
	kind string
	data *starlark.Dict
}

var (
	_ starlark.HasAttrs        = (*Record)(nil)
	_ starlark.IterableMapping = (*Record)(nil)
)

// NewRecord makes a record of the given kind, which is what type(r) answers. It freezes the data.
func NewRecord(kind string, data *starlark.Dict) *Record {
	data.Freeze()
	return &Record{kind: kind, data: data}
}

// Kind is the name that the record was made with.
func (r *Record) Kind() string { return r.kind }

// String names the kind only: a record may hold secrets, and this is what ends in messages.
func (r *Record) String() string        { return "<" + r.kind + ">" }
func (r *Record) Type() string          { return r.kind }
func (r *Record) Freeze()               {}
func (r *Record) Truth() starlark.Bool  { return true }
func (r *Record) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", r.kind) }

// Get is r[k].
func (r *Record) Get(k starlark.Value) (starlark.Value, bool, error) { return r.data.Get(k) }

// Iterate yields the names of the fields.
func (r *Record) Iterate() starlark.Iterator { return r.data.Iterate() }

// Items are the fields and their values.
func (r *Record) Items() []starlark.Tuple { return r.data.Items() }

// Len is the number of fields.
func (r *Record) Len() int { return r.data.Len() }

var recordMethods = []string{"get", "items", "keys", "values"}

// Attr is r.name: a field, or one of the reading methods of a dict.
func (r *Record) Attr(name string) (starlark.Value, error) {
	v, found, err := r.data.Get(starlark.String(name))
	if found || err != nil {
		return v, err
	}
	if slices.Contains(recordMethods, name) {
		return methodTable["dict"][name].BindReceiver(r.data), nil
	}
	return nil, nil
}

// AttrNames lists the fields and the methods.
func (r *Record) AttrNames() []string {
	names := slices.Clone(recordMethods)
	for k := range starlark.Elements(r.data) {
		if s, ok := starlark.AsString(k); ok {
			names = append(names, s)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
