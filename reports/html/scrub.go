package html

import (
	"reflect"

	"github.com/agentconform/agentconform/reports/safe"
)

// scrubbed returns a deep copy of v in which every string is visible text of at most limit bytes. The page is made
// from scrubbed copies only, so that no place in its template can forget to do it.
func scrubbed[T any](v T, limit int) T {
	in := reflect.ValueOf(&v).Elem()
	out := reflect.New(in.Type()).Elem()
	scrub(out, in, limit)
	return out.Interface().(T)
}

func scrub(out, in reflect.Value, limit int) {
	switch in.Kind() {
	case reflect.String:
		out.SetString(safe.Visible(safe.Cut(in.String(), limit)))
	case reflect.Slice:
		if in.IsNil() {
			return
		}
		out.Set(reflect.MakeSlice(in.Type(), in.Len(), in.Len()))
		for i := range in.Len() {
			scrub(out.Index(i), in.Index(i), limit)
		}
	case reflect.Map:
		scrubMap(out, in, limit)
	case reflect.Pointer:
		if !in.IsNil() {
			out.Set(reflect.New(in.Type().Elem()))
			scrub(out.Elem(), in.Elem(), limit)
		}
	case reflect.Struct:
		// Whole first: a time has no field that could be set, and needs no scrubbing.
		out.Set(in)
		for i := range in.NumField() {
			if in.Type().Field(i).IsExported() {
				scrub(out.Field(i), in.Field(i), limit)
			}
		}
	default:
		out.Set(in)
	}
}

func scrubMap(out, in reflect.Value, limit int) {
	if in.IsNil() {
		return
	}
	out.Set(reflect.MakeMapWithSize(in.Type(), in.Len()))
	for _, key := range in.MapKeys() {
		k, v := reflect.New(key.Type()).Elem(), reflect.New(in.Type().Elem()).Elem()
		scrub(k, key, limit)
		scrub(v, in.MapIndex(key), limit)
		out.SetMapIndex(k, v)
	}
}
