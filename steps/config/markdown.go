package config

import (
	_ "embed"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/agentconform/agentconform/features"
)

//go:embed page.md
var markdownHead string

// Markdown writes the page of all keys, with their types, defaults and variables.
func Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(strings.NewReplacer("{{DefaultFile}}", DefaultFile, "{{SchemaURL}}", SchemaURL, "{{Claims}}", features.ClaimsMarkdown()).Replace(markdownHead))
	each(reflect.ValueOf(Default()), "", func(key string, v reflect.Value) {
		group := !strings.Contains(key, ".")
		if group {
			fmt.Fprintf(&b, "\n### %s\n\n", key)
			if v.Kind() == reflect.Struct || isList(v.Type()) {
				fmt.Fprintf(&b, "%s.\n\n| key | type | default | environment variable | what it is for |\n| --- | --- | --- | --- | --- |\n", sentence(keys[key]))
				return
			}
			fmt.Fprintf(&b, "%s.\n\n%s\n", sentence(keys[key]), strings.TrimRight("Type: "+kindOf(v.Type())+defaultText(v)+variableText(key), " "))
			return
		}
		shown := ""
		if d := shownDefault(v); d != "" && d != `""` {
			shown = "`" + d + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | %s |\n", key, kindOf(v.Type()), shown, variable(key), strings.ReplaceAll(keys[key], "|", `\|`))
	})
	_, err := io.WriteString(w, b.String())
	return err
}

func defaultText(v reflect.Value) string {
	if d := shownDefault(v); d != "" && d != `""` {
		return ". Default: `" + d + "`"
	}
	return ""
}

func variableText(key string) string {
	return ". Environment variable: `" + variable(key) + "`."
}

// variable is the name of a key's environment variable; the key of a list is that of its first item.
func variable(key string) string {
	if list, rest, below := strings.Cut(key, "."); below && list == "users" {
		return EnvPrefix + envIndex(envWord(list), 0, envWord(rest))
	}
	return EnvPrefix + envWord(key)
}

// sentence begins with a capital letter, unless the text begins with the word of a value.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
}

// kindOf is the type of a key for readers.
func kindOf(t reflect.Type) string {
	switch {
	case t == durationType:
		return "duration"
	case t.Kind() == reflect.Struct:
		return "group of keys"
	case t.Kind() == reflect.Slice:
		return "list"
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.String:
		return "mapping of strings"
	case t.Kind() == reflect.Map:
		return "mapping"
	case t.Kind() == reflect.Int:
		return "integer"
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	return "string"
}
