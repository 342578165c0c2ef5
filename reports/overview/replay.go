package overview

import (
	"path"
	"regexp"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// harmless is a word that a shell takes as it is: the command comes from the result file, and readers paste what they see.
var harmless = regexp.MustCompile(`^[\w./:@%+,=~-]+$`)

// ReplayCommand returns the command that judges the finding again, with the target flags of the run that showed it.
func ReplayCommand(r *reports.Result, f *reports.Finding) string {
	if !harmless.MatchString(f.ID) {
		return ""
	}
	command, hasTarget := "agentconform replay "+f.ID, false
	words := strings.Fields(r.Run.Command)
	for i, word := range words {
		flag, value, joined := strings.Cut(word, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		if !harmless.MatchString(value) {
			continue
		}
		switch flag {
		case "--target", "--agent-target", "--config", "--env":
			command += " " + flag + " " + value
			hasTarget = true
		case "--out":
			command += " --result " + path.Join(value, "result.json")
		}
	}
	if !hasTarget {
		command += " --config FILE"
	}
	return command
}
