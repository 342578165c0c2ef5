package main

import (
	_ "embed"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/events"
	"github.com/agentconform/agentconform/steps/config"
)

// requirementsSchema is the JSON Schema of the requirements that list and explain write as JSON.
//
//go:embed requirements.schema.json
var requirementsSchema string

func newSchema() *cobra.Command {
	format, subject := "json", "config"
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration, or of the output",
		Long: `Print the JSON Schema (draft 7) of the configuration, for editors. It is as strict as the commands: unknown
keys and values of the wrong type are errors.

With the first line that agentconform init writes, an editor with the YAML language server loads the schema of the
latest version. To use the schema of this version, write it to a file and name the file in that line.

--of result prints the schema of result.json, --of events that of each line of run --format jsonl, and --of requirements
that of list --format json and explain --format json (draft 2020-12). Later versions may add fields to them, so these
schemas allow other fields.`,
		Example: `  agentconform schema > config.schema.json
  agentconform schema --format markdown > configuration.md
  agentconform schema --of events > event.schema.json`,
		Args: noArguments("write the schema to a file with > FILE"),
		RunE: func(c *cobra.Command, _ []string) error {
			text := string(config.Schema())
			switch {
			case format == "markdown" && subject != "config":
				return fmt.Errorf("--of %s --format markdown: only the configuration has a page; remove one of the flags", subject)
			case format == "markdown":
				text = config.Page()
			case subject == "result":
				text = reports.ResultSchema
			case subject == "events":
				text = events.Schema
			case subject == "requirements":
				text = requirementsSchema
			}
			_, err := io.WriteString(c.OutOrStdout(), text)
			return err
		},
	}
	addChoice(c, &format, "format", "; markdown is a page with all keys", "json", "markdown")
	addChoice(c, &subject, "of", ": the configuration, result.json, the lines of run --format jsonl, or the requirements as JSON", "config", "result",
		"events", "requirements")
	return c
}
