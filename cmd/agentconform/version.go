package main

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
)

// version and commit are set by the linker in releases.
var version, commit string

func newVersion() *cobra.Command {
	format := "text"
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the version of the interface",
		Long: `Print the version and the commit of the source, the version of the interface that is judged, and the number
of requirements. --format json prints the field "suite" of result.json. "+dirty" after the commit means that the source
had uncommitted changes.`,
		Example: "  agentconform version      # for a bug report\n  agentconform version --format json",
		Args:    noArguments("run it without arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			catalogue, err := features.Load()
			if err != nil {
				return err
			}
			suite := suiteOf(catalogue)
			if format == "json" {
				return reports.WriteEncoded(c.OutOrStdout(), suite, "  ")
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "agentconform %s\ninterface %s, %s\n", fullVersion(), suite.Interface,
				reports.Count(suite.Requirements, "requirement"))
			return err
		},
	}
	addChoice(c, &format, "format", "", "text", "json")
	return c
}

// suiteOf returns the version of this program and of its requirements.
func suiteOf(c *features.Catalogue) reports.Suite {
	return reports.Suite{Version: suiteVersion(), Commit: suiteCommit(), Interface: spec.Version,
		Requirements: len(c.Requirements), Digest: c.Digest()}
}

// suiteVersion returns the version of the release, or else the version of the module in the build.
func suiteVersion() string {
	built := ""
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "(devel)" {
		built = info.Main.Version
	}
	return cmp.Or(version, built, "0.1.0-dev")
}

// suiteCommit returns the commit that was built, or "" if the build did not record it.
func suiteCommit() string {
	info, ok := debug.ReadBuildInfo()
	if commit != "" || !ok {
		return commit
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if revision != "" && settings["vcs.modified"] == "true" {
		revision += "+dirty"
	}
	return revision
}

// fullVersion returns the version with the commit.
func fullVersion() string {
	return suiteVersion() + " (commit " + cmp.Or(suiteCommit(), "unknown") + ")"
}
