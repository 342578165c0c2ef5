// Package cucumber writes a result as Cucumber JSON, for the reporting tools that read it.
package cucumber

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// Write writes r as Cucumber JSON: a list of features with their scenarios and steps, and behind them a feature
// "agentconform" whose one step is the verdict of the run. The format has no blocked, no inconclusive and no warning:
// they become pending, with the reason as message, because pending is the one status that is neither a pass nor a
// failure. So are failures that the baseline covers. It fails only where w does.
func Write(w io.Writer, r *reports.Result) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(append(featuresOf(r), verdictOf(r)))
	if err == nil {
		_, err = w.Write(safe.JSON(b.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("writing Cucumber JSON: %w", err)
	}
	return nil
}

// The parts of the format, as the JSON formatters of the Cucumber projects write them.
type (
	feature struct {
		URI         string     `json:"uri"`
		ID          string     `json:"id"`
		Line        int        `json:"line"`
		Keyword     string     `json:"keyword"`
		Name        string     `json:"name"`
		Description string     `json:"description"`
		Elements    []scenario `json:"elements"`
	}
	scenario struct {
		ID          string `json:"id"`
		Line        int    `json:"line"`
		Type        string `json:"type"`
		Keyword     string `json:"keyword"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Tags        []tag  `json:"tags"`
		Steps       []step `json:"steps"`
	}
	tag struct {
		Name string `json:"name"`
	}
	step struct {
		Keyword string   `json:"keyword"`
		Line    int      `json:"line"`
		Name    string   `json:"name"`
		Match   struct{} `json:"match"`
		Result  outcome  `json:"result"`
	}
	outcome struct {
		Status   string `json:"status"`
		Duration int64  `json:"duration,omitempty"` // nanoseconds
		Message  string `json:"error_message,omitempty"`
	}
)

func featuresOf(r *reports.Result) []*feature {
	features, index, o := []*feature{}, map[[2]string]*feature{}, overview.Of(r)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		for _, s := range q.Scenarios {
			key := [2]string{s.URI, q.Feature}
			f := index[key]
			if f == nil {
				f = &feature{URI: s.URI, ID: overview.Slug(q.Feature), Line: 1, Keyword: "Feature", Name: q.Feature, Elements: []scenario{}}
				index[key] = f
				features = append(features, f)
			}
			f.Elements = append(f.Elements, scenario{
				ID:   fmt.Sprintf("%s;%s;%s;%d", f.ID, overview.Slug(q.ID), overview.Slug(s.Name), s.Line),
				Line: s.Line, Type: "scenario", Keyword: "Scenario", Name: s.Name,
				Description: fmt.Sprintf("%s (%s): %s", q.ID, q.Level, q.Title),
				Tags:        []tag{{"@" + q.ID}, {"@" + strings.ToLower(string(q.Level))}}, Steps: stepsOf(o, q, &s),
			})
		}
	}
	return features
}

// verdictOf is the verdict as a feature: it is failed or pending where the exit code is not 0, and says what was judged.
func verdictOf(r *reports.Result) *feature {
	display := overview.DisplayVerdictOf(r)
	result := outcome{Status: "passed"}
	switch {
	case display.Tone == reports.NonConformant:
		result = outcome{Status: "failed", Message: overview.FirstLine(r)}
	case display.Exit != 0:
		result = outcome{Status: "pending", Message: overview.FirstLine(r)}
	}
	return &feature{URI: "agentconform", ID: "agentconform", Line: 1, Keyword: "Feature", Name: "agentconform", Elements: []scenario{{
		ID: "agentconform;verdict", Line: 1, Type: "scenario", Keyword: "Scenario", Name: "verdict",
		Description: overview.FactsText(r, "\n"), Tags: []tag{},
		Steps: []step{{Keyword: "* ", Line: 1, Name: overview.FirstLine(r), Result: result}},
	}}}
}

// stepsOf gives each step its status. A scenario that did not pass must show it in a step, whatever the steps
// say: a reader takes a scenario of passed steps as passed, and one that begins with a skipped step as skipped.
func stepsOf(o overview.Overview, q *reports.Requirement, s *reports.Scenario) []step {
	var steps []step
	result, shown := outcomeOf(o, q, s), s.Verdict == reports.Passed
	whole := step{Keyword: "* ", Line: s.Line, Name: "the scenario is " + string(s.Verdict), Result: result}
	if begun := slices.ContainsFunc(s.Steps, func(each reports.Step) bool { return each.Verdict != "" }); !begun && !shown {
		steps, shown = append(steps, whole), true
	}
	for _, each := range s.Steps {
		c := step{Keyword: strings.TrimSpace(each.Keyword) + " ", Line: each.Line, Name: each.Text, Result: outcome{Status: "skipped"}}
		switch {
		case each.Verdict == reports.Passed:
			c.Result.Status = "passed"
		case each.Verdict != "" && !shown:
			c.Result, shown = result, true
		}
		steps = append(steps, c)
	}
	if !shown {
		steps = append(steps, whole)
	}
	if len(steps) == 0 {
		return []step{}
	}
	steps[len(steps)-1].Result.Duration = s.DurationMS * 1e6 // the time of single steps is not known
	return steps
}

func outcomeOf(o overview.Overview, q *reports.Requirement, s *reports.Scenario) outcome {
	switch class, message := overview.OutcomeOf(o.Result, q, s); class {
	case overview.Passed, overview.NotJudged:
		return outcome{Status: "skipped"}
	case overview.Failed:
		return outcome{Status: "failed", Message: strings.TrimSpace(message + "\n" + o.Story(q, s))}
	default:
		return outcome{Status: "pending", Message: message}
	}
}
