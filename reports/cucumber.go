package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/agentconform/agentconform/reports/safe"
)

// Cucumber writes r as Cucumber JSON: a list of features with their scenarios and steps, which the reporters of that
// world read. They know no blocked and no inconclusive: both become pending, with the reason as message, because
// pending is the one status that is neither a pass nor a fault of the thing tested.
func Cucumber(w io.Writer, r *Result) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(cucumberFeatures(r))
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
	cucumberFeature struct {
		URI         string             `json:"uri"`
		ID          string             `json:"id"`
		Line        int                `json:"line"`
		Keyword     string             `json:"keyword"`
		Name        string             `json:"name"`
		Description string             `json:"description"`
		Elements    []cucumberScenario `json:"elements"`
	}
	cucumberScenario struct {
		ID          string         `json:"id"`
		Line        int            `json:"line"`
		Type        string         `json:"type"`
		Keyword     string         `json:"keyword"`
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Tags        []cucumberTag  `json:"tags"`
		Steps       []cucumberStep `json:"steps"`
	}
	cucumberTag struct {
		Name string `json:"name"`
	}
	cucumberStep struct {
		Keyword string         `json:"keyword"`
		Line    int            `json:"line"`
		Name    string         `json:"name"`
		Match   struct{}       `json:"match"`
		Result  cucumberResult `json:"result"`
	}
	cucumberResult struct {
		Status   string `json:"status"`
		Duration int64  `json:"duration,omitempty"` // nanoseconds
		Message  string `json:"error_message,omitempty"`
	}
)

func cucumberFeatures(r *Result) []*cucumberFeature {
	features, index, o := []*cucumberFeature{}, map[string]*cucumberFeature{}, overviewOf(r)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		for _, s := range q.Scenarios {
			key := s.URI + "\x00" + q.Feature
			f := index[key]
			if f == nil {
				f = &cucumberFeature{URI: s.URI, ID: slug(q.Feature), Line: 1, Keyword: "Feature", Name: q.Feature, Elements: []cucumberScenario{}}
				index[key] = f
				features = append(features, f)
			}
			f.Elements = append(f.Elements, cucumberScenario{
				ID: fmt.Sprintf("%s;%s;%s;%d", f.ID, slug(q.ID), slug(s.Name), s.Line), Line: s.Line, Type: "scenario", Keyword: "Scenario", Name: s.Name,
				Description: fmt.Sprintf("%s (%s): %s", q.ID, q.Level, q.Title),
				Tags:        []cucumberTag{{"@" + q.ID}, {"@" + strings.ToLower(string(q.Level))}}, Steps: cucumberSteps(o, q, &s),
			})
		}
	}
	return features
}

// cucumberSteps gives each step its status. A scenario that did not pass must show it in a step, whatever the steps
// say: a reader takes a scenario of passed steps as passed.
func cucumberSteps(o overview, q *Requirement, s *Scenario) []cucumberStep {
	steps, shown := []cucumberStep{}, s.Verdict == Passed
	for _, step := range s.Steps {
		c := cucumberStep{Keyword: strings.TrimSpace(step.Keyword) + " ", Line: step.Line, Name: step.Text, Result: cucumberResult{Status: "skipped"}}
		switch {
		case step.Verdict == Passed:
			c.Result.Status = "passed"
		case step.Verdict != "" && !shown:
			c.Result, shown = verdictResult(o, q, s), true
		}
		steps = append(steps, c)
	}
	if !shown {
		steps = append(steps, cucumberStep{Keyword: "* ", Line: s.Line, Name: "the scenario is " + string(s.Verdict), Result: verdictResult(o, q, s)})
	}
	if len(steps) > 0 {
		steps[len(steps)-1].Result.Duration = s.DurationMS * 1e6 // the time of single steps is not known
	}
	return steps
}

func verdictResult(o overview, q *Requirement, s *Scenario) cucumberResult {
	switch s.Verdict {
	case Skipped:
		return cucumberResult{Status: "skipped"}
	case Failed:
		return cucumberResult{Status: "failed", Message: strings.TrimSpace(safe.Cut(s.Reason, 4000) + "\n" + details(o, q, s))}
	}
	return cucumberResult{Status: "pending", Message: fmt.Sprintf("%s: %s", s.Verdict, safe.Cut(s.Reason, 4000))}
}

// slug makes an id of a title: lower case, words joined by dashes.
func slug(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
