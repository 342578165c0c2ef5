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
		Short: "Print the version, the commit, the interface and the number of requirements",
		Long: `Print the version and the commit of the source, the version of the interface that is judged, and the number
of requirements. With --format json it is the field "suite" of result.json. "+dirty" behind the commit says that the
source had uncommitted changes.`,
		Example: "  agentconform version      # to be named in a bug report\n  agentconform version --format json",
		Args:    noArguments("run it without arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			catalogue, err := features.Load()
			if err != nil {
				return err
			}
			suite := suiteOf(catalogue)
			if format == "json" {
				return writeJSON(c.OutOrStdout(), suite)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "agentconform %s\ninterface %s, %s\n", fullVersion(), suite.Interface,
				reports.Count(suite.Requirements, "requirement"))
			return err
		},
	}
	addChoice(c, &format, "format", "", "text", "json")
	return c
}

// suiteOf is this program with its requirements.
func suiteOf(c *features.Catalogue) reports.Suite {
	return reports.Suite{Version: suiteVersion(), Commit: suiteCommit(), Interface: spec.Version,
		Requirements: len(c.Requirements), Digest: c.Digest()}
}

// suiteVersion is that of the release, else what the build knows of the module.
func suiteVersion() string {
	built := ""
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		built = info.Main.Version
	}
	return cmp.Or(version, built, "0.1.0-dev")
}

// suiteCommit is the commit that was built; "" where the build did not record it.
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

// fullVersion tells builds of one version apart.
func fullVersion() string {
	return suiteVersion() + " (commit " + cmp.Or(suiteCommit(), "unknown") + ")"
}
