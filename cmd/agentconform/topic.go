package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/steps/config"
)

// configTopic is the reference of the configuration: a help topic, and no command.
func configTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "The keys of the configuration, with their defaults",
		Long: "The configuration is a YAML file: the one named with --config, else " + config.DefaultFile + " in the working folder. Each key\n" +
			"has an environment variable too: " + config.EnvPrefix + " and the name of the key in capitals; nested keys are joined with _, such\n" +
			"as " + config.EnvPrefix + "TIMEOUTS_POLL. Flags override the environment, the environment overrides the file.\n\n" +
			"agentconform init writes a file with what it can learn from a target, agentconform schema a JSON Schema for editors.\n" +
			"agentconform serve --write-config FILE writes an example with all keys. The keys, with their defaults:\n\n" + strings.TrimRight(config.Reference(), "\n"),
	}
}
