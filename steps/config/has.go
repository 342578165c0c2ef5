package config

import (
	"reflect"
	"strconv"
	"strings"
)

// Has tells whether a key of the configuration has a value: "alternatives.repo_ref", "users.1", "create.body.name".
func (c *Config) Has(key string) bool {
	v := c.value(key)
	return v.IsValid() && !v.IsZero() && (v.Kind() != reflect.Map && v.Kind() != reflect.Slice || v.Len() > 0)
}

// value is what stands under a key; not valid where that is nothing.
func (c *Config) value(key string) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(key, ".") {
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Struct:
			v = field(v, name)
		case reflect.Slice:
			at, err := strconv.Atoi(name)
			if err != nil || at >= v.Len() {
				return reflect.Value{}
			}
			v = v.Index(at)
		case reflect.Map:
			v = v.MapIndex(reflect.ValueOf(name))
		default:
			return reflect.Value{}
		}
	}
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

func field(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ","); tag == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}
