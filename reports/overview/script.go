package overview

import (
	"regexp"

	"github.com/agentconform/agentconform/reports"
)

// MaxScripts bounds how many findings of a result get a script.
const MaxScripts = 50

// fileWord is a part of a file's name that means nothing else to any system: the result may come from anywhere.
var fileWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// ScriptPath returns the file below the folder of the reports that holds the requests of a finding of r as a script; "" where
// it has none.
func ScriptPath(r *reports.Result, f *reports.Finding) string {
	if f.Exchange == 0 && len(f.Exchanges) == 0 || !fileWord.MatchString(f.Requirement) || !fileWord.MatchString(f.ID) {
		return ""
	}
	for i := range r.Findings[:min(len(r.Findings), MaxScripts)] {
		if r.Findings[i].ID == f.ID && r.Findings[i].Requirement == f.Requirement {
			return "scripts/" + f.Requirement + "-" + f.ID + ".sh"
		}
	}
	return ""
}
