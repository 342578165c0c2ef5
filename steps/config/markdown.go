package config

import (
	"fmt"
	"io"
	"reflect"
	"strings"
)

const markdownHead = `# Configuration

This page is generated from the keys of the configuration (` + "`make docs`" + `). ` + "`agentconform help config`" + ` prints the same keys, and
` + "`agentconform init`" + ` writes a configuration with what it can learn from a target.

The configuration is a YAML file: the one named with ` + "`--config`" + `, else ` + "`" + DefaultFile + "`" + ` in the working folder. Unknown keys and
wrong values are refused with the line and the remedy (exit code 2). Later sources override earlier ones:

1. the defaults
2. the file
3. the environment of the file that ` + "`--env`" + ` names
4. the environment variables in the tables; of a list, the number of the item is part of the name, from 0
5. the flags ` + "`--target` and `--agent-target`" + `; if one of them is given, the other address is ignored

Editors complete and check the file with its JSON Schema, [config.schema.json](config.schema.json), if its first line is:

    # yaml-language-server: $schema=` + SchemaURL + `

## Secrets

A credential is given by its environment variable, or by ` + "`{file: path}`" + ` in place of the value: in ` + "`credentials`, `other_tenant`" + `,
the tokens and headers of ` + "`users`, and `agent.studio_headers`" + `. The file holds only the credential, and is read again when the target
refuses it. A relative path starts at the folder of the configuration. Secrets appear in no report.

    credentials:
      api_key: {file: secrets/api-key}

## Environments

One file can hold several targets. ` + "`run`, `doctor`, `replay` and `clean`" + ` take ` + "`--env NAME`" + `, which lays the keys of that environment over
the other keys: mappings are merged key by key, lists are replaced.

    edition: cloud
    environments:
      staging:
        target: https://staging.control.example
        credentials:
          api_key: {file: secrets/staging}
      production:
        target: https://control.example
        credentials:
          api_key: {file: secrets/production}

## Keys
`

// Markdown writes the page of all keys, with their types, defaults and variables.
func Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(markdownHead)
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
	if key == environmentsKey {
		return "."
	}
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
