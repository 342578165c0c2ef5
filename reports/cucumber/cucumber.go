// Package cucumber writes a result as Cucumber JSON for reporting tools. Start with [Write].
package cucumber

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/overview"
)

// Write writes r as Cucumber JSON: a list of features with their scenarios and steps, and a last feature "agentconform"
// whose only step is the verdict. The format has no status for blocked, inconclusive, warnings and known failures. They
// become pending with the reason as message, because pending is neither a pass nor a failure. Errors are those of w.
func Write(w io.Writer, r *reports.Result) error {
	return reports.WriteEncoded(w, featuresOf(overview.Of(r)), "  ")
}

// object is a JSON object in the format of the Cucumber projects.
type object map[string]any

func featureOf(uri, name string) object {
	return object{"uri": uri, "id": reports.Slug(name), "line": 1, "keyword": "Feature", "name": name, "description": "",
		"elements": []object{}}
}

func scenarioOf(id, name, description string, line int, tags, steps []object) object {
	return object{"id": id, "line": line, "type": "scenario", "keyword": "Scenario", "name": name,
		"description": description, "tags": tags, "steps": steps}
}

func stepOf(keyword, name string, line int, result object) object {
	return object{"keyword": keyword + " ", "line": line, "name": name, "match": object{}, "result": result}
}

func featuresOf(o overview.Overview) (features []object) {
	index := map[[2]string]object{}
	for q := range reports.Each(o.Result.Requirements) {
		for s := range reports.Each(q.Scenarios) {
			key := [2]string{s.URI, q.Feature}
			f := index[key]
			if f == nil {
				f = featureOf(s.URI, q.Feature)
				index[key], features = f, append(features, f)
			}
			id := fmt.Sprintf("%s;%s;%s;%d", f["id"], reports.Slug(q.ID), reports.Slug(s.Name), s.Line)
			tags := []object{{"name": "@" + q.ID}, {"name": "@" + strings.ToLower(string(q.Level))}}
			description := fmt.Sprintf("%s (%s): %s", q.ID, q.Level, q.Title)
			scenario := scenarioOf(id, s.Name, description, s.Line, tags, stepsOf(o, q, s))
			f["elements"] = append(f["elements"].([]object), scenario)
		}
	}
	return append(features, verdictOf(o))
}

// verdictOf returns the verdict as a feature, which is failed or pending if the exit code is not 0.
func verdictOf(o overview.Overview) object {
	display, result := o.Display(), object{"status": "passed"}
	if display.Exit != 0 {
		result = object{"status": "pending", "error_message": o.FirstLine()}
	}
	if display.Tone == reports.NonConformant {
		result["status"] = "failed"
	}
	f := featureOf("agentconform", "agentconform")
	f["elements"] = []object{scenarioOf("agentconform;verdict", "verdict", o.FactsText("\n"), 1, []object{},
		[]object{stepOf("*", o.FirstLine(), 1, result)})}
	return f
}

// stepsOf returns the steps of a scenario with their statuses. Readers derive the status of a scenario from its steps. If a
// scenario did not pass and no step has its status, stepsOf adds one: as the first step if no step was reached.
func stepsOf(o overview.Overview, q *reports.Requirement, s *reports.Scenario) []object {
	steps := []object{}
	result := outcomeOf(o, q, s)
	shown := s.Verdict == reports.Passed
	verdict := stepOf("*", "the scenario is "+string(s.Verdict), s.Line, result)
	reached := slices.ContainsFunc(s.Steps, func(each reports.Step) bool { return each.Verdict != "" })
	if !reached && !shown {
		steps, shown = append(steps, verdict), true
	}
	for _, each := range s.Steps {
		status := object{"status": "skipped"}
		switch {
		case each.Verdict == reports.Passed:
			status = object{"status": "passed"}
		case each.Verdict != "" && !shown:
			status, shown = result, true
		}
		steps = append(steps, stepOf(strings.TrimSpace(each.Keyword), each.Text, each.Line, status))
	}
	if !shown {
		steps = append(steps, verdict)
	}
	if len(steps) > 0 && s.DurationMS > 0 { // in nanoseconds; the durations of single steps are unknown
		steps[len(steps)-1]["result"].(object)["duration"] = s.DurationMS * 1e6
	}
	return steps
}

func outcomeOf(o overview.Overview, q *reports.Requirement, s *reports.Scenario) object {
	class, message := o.OutcomeOf(q, s)
	switch class {
	case overview.Passed, overview.NotTested:
		return object{"status": "skipped"}
	case overview.Failed:
		return object{"status": "failed", "error_message": message + "\n" + console.Story(o, q, s, "")}
	default:
		return object{"status": "pending", "error_message": message}
	}
}
