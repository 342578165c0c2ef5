package safe

import "reflect"

// Copy returns a deep copy of v in which each text is what change makes of it, and no list and no map is nil. Values
// behind interfaces and fields that are not exported are taken over as they are.
func Copy[T any](v T, change func(string) string) T {
	in := reflect.ValueOf(&v).Elem()
	out := reflect.New(in.Type()).Elem()
	copyInto(out, in, change)
	return out.Interface().(T)
}

func copyInto(out, in reflect.Value, change func(string) string) {
	switch in.Kind() {
	case reflect.String:
		out.SetString(change(in.String()))
	case reflect.Slice, reflect.Array:
		if in.Kind() == reflect.Slice {
			out.Set(reflect.MakeSlice(in.Type(), in.Len(), in.Len()))
		}
		for i := range in.Len() {
			copyInto(out.Index(i), in.Index(i), change)
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(in.Type(), in.Len()))
		for _, key := range in.MapKeys() {
			k, v := reflect.New(key.Type()).Elem(), reflect.New(in.Type().Elem()).Elem()
			copyInto(k, key, change)
			copyInto(v, in.MapIndex(key), change)
			out.SetMapIndex(k, v)
		}
	case reflect.Pointer:
		if !in.IsNil() {
			out.Set(reflect.New(in.Type().Elem()))
			copyInto(out.Elem(), in.Elem(), change)
		}
	case reflect.Struct:
		out.Set(in) // whole first: a time has no field that could be set
		for i := range in.NumField() {
			if in.Type().Field(i).IsExported() {
				copyInto(out.Field(i), in.Field(i), change)
			}
		}
	default:
		out.Set(in)
	}
}
