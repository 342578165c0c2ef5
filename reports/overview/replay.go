package overview

import (
	"path"
	"regexp"

	"github.com/agentconform/agentconform/reports"
)

var harmless = regexp.MustCompile(`^[\w./:@%+,=~-]+$`)

// ReplayCommand returns the command that judges the finding again, with the target flags of the run that showed it.
func ReplayCommand(r *reports.Result, f *reports.Finding) string {
	if !harmless.MatchString(f.ID) {
		return ""
	}
	flags := r.Run.Flags("--target", "--agent-target", "--config")
	if flags == "" {
		flags = " --config FILE"
	}
	if out := r.Run.Flag("--out"); out != "" {
		flags += " --result " + reports.ShellWord(path.Join(out, "result.json"))
	}
	return "agentconform replay " + f.ID + flags
}
