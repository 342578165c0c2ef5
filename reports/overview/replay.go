package overview

import (
	"path"
	"regexp"
	"strings"
	"unicode"

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
	words, usable := r.Run.Arguments, printable
	if len(words) == 0 { // an older file, whose command is not quoted
		words, usable = strings.Fields(r.Run.Command), harmless.MatchString
	}
	for i, word := range words {
		flag, value, joined := strings.Cut(word, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		if !usable(value) {
			continue
		}
		switch flag {
		case "--target", "--agent-target", "--config", "--env":
			command += " " + flag + " " + reports.ShellWord(value)
			hasTarget = true
		case "--out":
			command += " --result " + reports.ShellWord(path.Join(value, "result.json"))
		}
	}
	if !hasTarget {
		command += " --config FILE"
	}
	return command
}

// printable tells whether a value can be part of a command: one with control characters would not be shown as it is.
func printable(value string) bool {
	return value != "" && !strings.ContainsFunc(value, unicode.IsControl)
}
