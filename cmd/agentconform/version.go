package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker in releases.
var version = ""

func newVersion(io streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and the commit",
		Long: `Print the version and the commit of the source, which result.json also holds (suite.version, suite.commit). "+dirty"
behind the commit says that the source had uncommitted changes.`,
		Example: "  agentconform version      # to be named in a bug report",
		Args:    noArguments("run it without arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(io.out, "agentconform "+fullVersion(suiteVersion(), suiteCommit()))
			return err
		},
	}
}

// suiteVersion is that of the release, else what the build knows of the module.
func suiteVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.1.0-dev"
}

// suiteCommit is the commit that was built; "" where the build did not record it.
func suiteCommit() string {
	revision, dirty := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = "+dirty"
			}
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}

// fullVersion tells builds of one version apart.
func fullVersion(version, commit string) string {
	if commit == "" {
		commit = "unknown"
	}
	return version + " (commit " + commit + ")"
}
