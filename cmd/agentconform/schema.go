package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/steps/config"
)

func newSchema() *cobra.Command {
	format := "json"
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration, for editors",
		Long: `Print the JSON Schema (draft 7) of the configuration, for editors. It is as strict as the commands: unknown
keys and values of the wrong type are errors.

With the first line that agentconform init writes, an editor with the YAML language server loads the schema of the
latest version. To use the schema of this version, write it to a file and name the file in that line.`,
		Example: `  agentconform schema > config.schema.json
  agentconform schema --format markdown > configuration.md`,
		Args: noArguments("write the schema to a file with > FILE"),
		RunE: func(c *cobra.Command, _ []string) error {
			text := string(config.Schema())
			if format == "markdown" {
				text = config.Page()
			}
			_, err := io.WriteString(c.OutOrStdout(), text)
			return err
		},
	}
	addChoice(c, &format, "format", "; markdown is a page with all keys", "json", "markdown")
	return c
}
