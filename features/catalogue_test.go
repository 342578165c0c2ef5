package features_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
)

var row = regexp.MustCompile(`(?m)^\| ((?:CP|AS|E2E)-\S+) \| (MUST|SHOULD|MAY)`)

// TestEveryRequirementHasARule holds the list of requirements and the features together, both ways.
func TestEveryRequirementHasARule(t *testing.T) {
	page, err := os.ReadFile("REQUIREMENTS.md")
	require.NoError(t, err)
	listed := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		listed[m[1]] = m[2]
	}
	require.Greater(t, len(listed), 80)
	catalogue, err := features.Load()
	require.NoError(t, err)
	for id, level := range listed {
		r := catalogue.Find(id)
		if assert.NotNil(t, r, "%s has no rule", id) {
			assert.Equal(t, level, string(r.Level), id)
		}
	}
	for _, r := range catalogue.Requirements {
		assert.Contains(t, listed, r.ID, "%s:%d has a rule and is not listed", r.URI, r.Line)
	}
}

// TestKeywordsAreNotMisspelt looks for words that want to begin something and do not: Gherkin takes a misspelt
// keyword for prose, and the scenario is gone without a sound.
func TestKeywordsAreNotMisspelt(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	keyword := regexp.MustCompile(`(?m)^\s*(\w+(?: \w+)?):`)
	step := regexp.MustCompile(`(?m)^\s*(Given|When|Then|And|But)\b`)
	for _, f := range catalogue.Files {
		for _, m := range keyword.FindAllStringSubmatch(string(f.Content), -1) {
			assert.Contains(t, []string{"Feature", "Rule", "Background", "Scenario", "Scenario Outline", "Examples"}, m[1], f.URI)
		}
		assert.GreaterOrEqual(t, len(f.Scenarios), strings.Count(string(f.Content), "Scenario"), f.URI)
	}
	for _, r := range catalogue.Requirements {
		assert.Empty(t, step.FindString(r.Description), "%s:%d: a sentence stands in the prose of the rule", r.URI, r.Line)
	}
}

// TestEveryScenarioJudges wants each scenario to act and to judge: without a Then nothing can fail.
func TestEveryScenarioJudges(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	for _, s := range catalogue.Scenarios() {
		words := ""
		for _, step := range s.Steps {
			words += step.Keyword + " "
		}
		assert.Contains(t, words, "When", s.Key())
		assert.Contains(t, words, "Then", s.Key())
	}
}

func TestExcluded(t *testing.T) {
	excluded, err := features.Excluded()
	require.NoError(t, err)
	require.NotEmpty(t, excluded)
	for _, e := range excluded {
		assert.NotEmpty(t, e.Reason, e.Subject)
		assert.NotEmpty(t, e.Section, e.Subject)
	}
}

func TestParseRefuses(t *testing.T) {
	const head = "@control-plane\nFeature: F\n"
	const rule = "@CP-X-1 @must @section-1\nRule: R\n"
	const scenario = "Scenario: S\nGiven a\nWhen b\nThen c\n"
	for name, c := range map[string]struct{ text, says string }{
		"no feature":         {"# nothing\n", "holds no feature"},
		"no rule":            {head, "has no rule"},
		"scenario outside":   {head + scenario, "stands outside any rule"},
		"rule without tags":  {head + "Rule: R\n" + scenario, "needs a tag each"},
		"rule without level": {head + "@CP-X-1 @section-1\nRule: R\n" + scenario, "needs a tag each"},
		"unknown tag":        {head + "@CP-X-1 @must @section-1 @odd\nRule: R\n" + scenario, "@odd"},
		"no profile":         {"Feature: F\n" + rule + scenario, "needs a tag each"},
		"no scenario":        {head + rule + "Senario: S\n", "has no scenario"},
		"twice the ID":       {head + rule + scenario + rule + "Scenario: T\nGiven a\n", "is already the rule"},
		"twice the name":     {head + rule + scenario + scenario, "has the name of the one"},
		"broken":             {head + rule + "Scenario: S\nGiven x\nnonsense\n", "parsing feature"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := features.Parse(fstest.MapFS{"a.feature": {Data: []byte(c.text)}})
			require.ErrorContains(t, err, c.says)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("@control-plane\nFeature: F\n@CP-X-1 @must @section-1\nRule: R\nScenario: S\nGiven a\n")
	f.Add("Feature: F\nScenario Outline: <a>\nExamples:\n|a|\n|1|\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := features.Parse(fstest.MapFS{"a.feature": {Data: []byte(text)}})
		if err == nil && len(c.Requirements) == 0 && len(c.Scenarios()) > 0 {
			t.Fatal("scenarios without a requirement")
		}
	})
}
