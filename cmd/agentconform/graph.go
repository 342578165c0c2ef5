package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/interop"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
)

func newGraph() *cobra.Command {
	language := ""
	c := &cobra.Command{
		Use:   "graph --language python|javascript [FOLDER]",
		Short: "Write the conformance graph and its handler, to deploy them",
		Long: `Write the conformance graph and its authentication handler into a folder (default conformance-graph), with the list
of packages and a configuration for the users of the handler. The graph needs no model and no network: the words of the last
message control it. Files that exist are not overwritten.

If your control plane builds from git or from images, you need no files: set fixtures.serve, and the test run serves them.`,
		Example: `  agentconform graph --language python
  agentconform graph --language javascript agent`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder := "conformance-graph"
			if len(args) > 0 {
				folder = args[0]
			}
			return writeGraph(c, language, folder)
		},
	}
	addChoice(c, &language, "language", " (required)", interop.Python, interop.JavaScript)
	return c
}

func writeGraph(c *cobra.Command, language, folder string) error {
	if language == "" {
		return errors.New("choose the language of the server: --language python or --language javascript")
	}
	kit, err := interop.Kit(language)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("creating the folder: %w; name another", err)
	}
	names := slices.Sorted(maps.Keys(kit))
	for _, name := range names { // nothing is written if any of the files exists
		_, err := os.Lstat(filepath.Join(folder, name))
		if err == nil {
			return fmt.Errorf("%s exists: remove it, or name another folder", safe.Line(filepath.Join(folder, name)))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("looking for %s: %w", safe.Line(name), err)
		}
	}
	for _, name := range names {
		if err := outfile.Create(filepath.Join(folder, name), outfile.Public, kit[name]); err != nil {
			return err
		}
		c.Println("wrote " + safe.Line(filepath.Join(folder, name)))
	}
	start := "pip install --no-deps -r requirements.txt && langgraph dev --no-browser --no-reload --host 127.0.0.1 --port 8123"
	if language == interop.JavaScript {
		start = "npm install --ignore-scripts && node server.mjs 8123"
	}
	c.Println("\nSet CONFORMANCE_USERS as agentconform.yaml says, and start your server in this folder, for example with")
	c.Println("  " + start)
	c.Println("and test it:\n  agentconform doctor --config " + safe.Line(filepath.Join(folder, "agentconform.yaml")) +
		" --agent-target http://127.0.0.1:8123 --try")
	return nil
}
