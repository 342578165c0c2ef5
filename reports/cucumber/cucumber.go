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
// "agentconform" whose one step is the verdict of the run. The format has no blocked, no inconclusive and no warning: they
// become pending, with the reason as message, because pending is the one status that is neither a pass nor a failure. So
// are failures that the baseline covers. It fails only where w does.
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
	features, index, o := []*feature{}, map[string]*feature{}, overview.Of(r)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		for _, s := range q.Scenarios {
			key := s.URI + "\x00" + q.Feature
			f := index[key]
			if f == nil {
				f = &feature{URI: s.URI, ID: overview.Slug(q.Feature), Line: 1, Keyword: "Feature", Name: q.Feature, Elements: []scenario{}}
				index[key] = f
				features = append(features, f)
			}
			f.Elements = append(f.Elements, scenario{
				ID: fmt.Sprintf("%s;%s;%s;%d", f.ID, overview.Slug(q.ID), overview.Slug(s.Name), s.Line), Line: s.Line, Type: "scenario", Keyword: "Scenario", Name: s.Name,
				Description: fmt.Sprintf("%s (%s): %s", q.ID, q.Level, q.Title),
				Tags:        []tag{{"@" + q.ID}, {"@" + strings.ToLower(string(q.Level))}}, Steps: stepsOf(r, o, q, &s),
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
	case display.Tone == overview.ToneBad:
		result = outcome{Status: "failed", Message: overview.FirstLine(r)}
	case display.Exit != 0:
		result = outcome{Status: "pending", Message: overview.FirstLine(r)}
	}
	var facts []string
	for _, f := range overview.Facts(r) {
		facts = append(facts, f.Name+": "+f.Value)
	}
	return &feature{URI: "agentconform", ID: "agentconform", Line: 1, Keyword: "Feature", Name: "agentconform", Elements: []scenario{{
		ID: "agentconform;verdict", Line: 1, Type: "scenario", Keyword: "Scenario", Name: "verdict", Description: strings.Join(facts, "\n"), Tags: []tag{},
		Steps: []step{{Keyword: "* ", Line: 1, Name: overview.FirstLine(r), Result: result}},
	}}}
}

// stepsOf gives each step its status. A scenario that did not pass must show it in a step, whatever the steps
// say: a reader takes a scenario of passed steps as passed, and one that begins with a skipped step as skipped.
func stepsOf(r *reports.Result, o overview.Overview, q *reports.Requirement, s *reports.Scenario) []step {
	steps, shown := []step{}, s.Verdict == reports.Passed
	result := verdictResult(r, o, q, s)
	if begun := slices.ContainsFunc(s.Steps, func(sentence reports.Step) bool { return sentence.Verdict != "" }); !begun && !shown {
		steps, shown = append(steps, step{Keyword: "* ", Line: s.Line, Name: "the scenario is " + string(s.Verdict), Result: result}), true
	}
	for _, sentence := range s.Steps {
		c := step{Keyword: strings.TrimSpace(sentence.Keyword) + " ", Line: sentence.Line, Name: sentence.Text, Result: outcome{Status: "skipped"}}
		switch {
		case sentence.Verdict == reports.Passed:
			c.Result.Status = "passed"
		case sentence.Verdict != "" && !shown:
			c.Result, shown = result, true
		}
		steps = append(steps, c)
	}
	if !shown {
		steps = append(steps, step{Keyword: "* ", Line: s.Line, Name: "the scenario is " + string(s.Verdict), Result: result})
	}
	if len(steps) > 0 {
		steps[len(steps)-1].Result.Duration = s.DurationMS * 1e6 // the time of single steps is not known
	}
	return steps
}

func verdictResult(r *reports.Result, o overview.Overview, q *reports.Requirement, s *reports.Scenario) outcome {
	reason := safe.Cut(s.Reason, 4000)
	switch {
	case s.Verdict == reports.Skipped:
		return outcome{Status: "skipped"}
	case q.Known != nil:
		return outcome{Status: "pending", Message: "known failure: " + overview.Known(q.Known) + ": " + reason}
	case !q.Decides(r.Run.Strict):
		return outcome{Status: "pending", Message: fmt.Sprintf("warning: %s %s: %s", q.Level, s.Verdict, reason)}
	case s.Verdict == reports.Failed:
		return outcome{Status: "failed", Message: strings.TrimSpace(reason + "\n" + overview.Story(o, q, s))}
	}
	return outcome{Status: "pending", Message: fmt.Sprintf("%s: %s", s.Verdict, reason)}
}
