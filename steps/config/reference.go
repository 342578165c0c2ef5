package config

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/agentconform/agentconform/features"
)

// Reference lists every key with its type, its default and what it is for, in the order of the file.
func Reference() string {
	var b strings.Builder
	each(reflect.ValueOf(Default()), "", func(key string, value reflect.Value) {
		indent := strings.Repeat("  ", strings.Count(key, "."))
		line := indent + key[strings.LastIndexByte(key, '.')+1:] + ":"
		if shown := shownDefault(value); shown != "" {
			line += " " + shown
		}
		fmt.Fprintf(&b, "%-32s # %s\n", line, keys[key])
	})
	return b.String()
}

// shownDefault is a default as the file would hold it, "" where there is none.
func shownDefault(v reflect.Value) string {
	if v.Kind() == reflect.Struct || v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return ""
	}
	return cmp.Or(fmt.Sprint(v.Interface()), `""`)
}

//go:embed page.md
var markdownHead string

// Markdown writes the page of all keys, with their types, defaults and variables.
func Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(strings.NewReplacer("{{DefaultFile}}", DefaultFile, "{{SchemaURL}}", SchemaURL,
		"{{Claims}}", features.ClaimsMarkdown()).Replace(markdownHead))
	each(reflect.ValueOf(Default()), "", func(key string, v reflect.Value) {
		about, kind, shown := keys[key], formOf(v.Type()).name, ""
		variable := Variable(strings.Replace(key, "users.", "users.0.", 1))
		if d := shownDefault(v); d != "" && d != `""` {
			shown = "`" + d + "`"
		}
		if strings.Contains(key, ".") {
			about = strings.ReplaceAll(about, "|", `\|`)
			fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | %s |\n", key, kind, shown, variable, about)
			return
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s.\n\n", key, strings.ToUpper(about[:1])+about[1:])
		if v.Kind() == reflect.Struct || isList(v.Type()) {
			b.WriteString("| key | type | default | environment variable | what it is for |\n| --- | --- | --- | --- | --- |\n")
			return
		}
		if shown != "" {
			shown = ". Default: " + shown
		}
		fmt.Fprintf(&b, "Type: %s%s. Environment variable: `%s`.\n", kind, shown, variable)
	})
	_, err := io.WriteString(w, b.String())
	return err
}
