package overview

import (
	"path"

	"github.com/agentconform/agentconform/reports"
)

// ScenarioOf finds the scenario of q that a finding is from, or nil.
func ScenarioOf(q *reports.Requirement, f *reports.Finding) *reports.Scenario {
	for s := range reports.Each(q.Scenarios) {
		if s.Key() == f.Scenario {
			return s
		}
	}
	return nil
}

// Seen says in how many judgements of its scenario a finding was seen, where there were two; else "".
func Seen(f *reports.Finding) string {
	switch {
	case f.Judged < 2:
		return ""
	case f.Seen < f.Judged:
		return "once of two judgements"
	}
	return "twice"
}

// ReplayCommand returns the command that judges the finding again, with the target flags of the run that showed it.
func (o Overview) ReplayCommand(f *reports.Finding) string {
	if f.ID == "" {
		return ""
	}
	run := &o.Result.Run
	flags := run.Flags("--target", "--agent-target", "--config")
	if flags == "" && !run.ByDefault() {
		flags = " --config FILE"
	}
	if out := run.Flag("--out"); out != "" {
		flags += " --result " + reports.ShellWord(path.Join(out, "result.json"))
	}
	return "agentconform replay " + reports.ShellWord(f.ID) + flags
}
