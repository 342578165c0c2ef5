package features_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
)

func loaded(t *testing.T) *features.Catalogue {
	t.Helper()
	catalogue, err := features.Load()
	require.NoError(t, err)
	return catalogue
}

// TestThePageIsFresh compares the generated page with the features.
func TestThePageIsFresh(t *testing.T) {
	catalogue := loaded(t)
	var want bytes.Buffer
	require.NoError(t, features.Markdown(&want, catalogue))
	page, err := os.ReadFile("REQUIREMENTS.md")
	require.NoError(t, err)
	if !bytes.Equal(want.Bytes(), page) {
		t.Fatal("features/REQUIREMENTS.md is stale; run: make requirements")
	}
}

// TestEverySectionIsNamed checks that each section of the interface is judged or excluded.
func TestEverySectionIsNamed(t *testing.T) {
	catalogue := loaded(t)
	excluded := features.Excluded()
	named := map[string]bool{}
	for _, r := range catalogue.Requirements {
		assert.True(t, slices.IsSorted(r.Sections), r.ID)
		for _, section := range r.Sections {
			assert.Regexp(t, `^[1-9]$`, section, r.ID)
			named[section] = true
		}
	}
	for _, e := range excluded {
		assert.Regexp(t, `^[1-9]$`, e.Section, e.Subject)
		assert.NotEmpty(t, e.Reason, e.Subject)
		named[e.Section] = true
	}
	assert.Len(t, named, 9, "a section of the interface is neither judged nor excluded")
}

// TestQuotesAreOfTheInterface checks that each MUST quotes the interface, and that each part of a quote is in a section
// that the rule names.
func TestQuotesAreOfTheInterface(t *testing.T) {
	page, err := os.ReadFile("../spec/INTERFACE.md")
	require.NoError(t, err)
	plain := strings.NewReplacer("`", "", "*", "", "|", "")
	sections := map[string]string{}
	for text := range strings.SplitSeq(string(page), "\n## ") {
		number, body, _ := strings.Cut(text, ". ")
		sections[number] = strings.Join(strings.Fields(plain.Replace(body)), " ")
	}
	catalogue := loaded(t)
	for _, r := range catalogue.Requirements {
		assert.False(t, r.Quote == "" && r.Level == reports.Must, "%s quotes no sentence of the interface", r.ID)
		assert.LessOrEqual(t, len(r.Quote), 200, r.ID)
		for part := range strings.SplitSeq(r.Quote, " ... ") {
			assert.True(t, slices.ContainsFunc(r.Sections, func(n string) bool { return strings.Contains(sections[n], part) }),
				"%s: no section of the rule says %q", r.ID, part)
		}
	}
}

// TestKeywordsAreNotMisspelled looks for misspelled keywords: Gherkin reads them as part of a description, and the
// scenario is lost.
func TestKeywordsAreNotMisspelled(t *testing.T) {
	catalogue := loaded(t)
	keyword := regexp.MustCompile(`(?m)^\s*(\w+(?: \w+)?):`)
	step := regexp.MustCompile(`(?m)^\s*(Given|When|Then|And|But)\b`)
	for _, f := range catalogue.Files {
		for _, m := range keyword.FindAllStringSubmatch(string(f.Content), -1) {
			assert.Contains(t, []string{"Feature", "Rule", "Background", "Scenario", "Scenario Outline", "Examples"}, m[1], f.URI)
		}
		assert.GreaterOrEqual(t, len(f.Scenarios), strings.Count(string(f.Content), "Scenario"), f.URI)
		assert.Empty(t, step.FindString(f.Description), "%s: a sentence stands in the prose of the feature", f.URI)
	}
	for _, r := range catalogue.Requirements {
		assert.Empty(t, step.FindString(r.Description), "%s:%d: a sentence stands in the prose of the rule", r.URI, r.Line)
	}
}

// TestEveryScenarioJudges checks that each scenario has a When and a Then. Without a Then it cannot fail.
func TestEveryScenarioJudges(t *testing.T) {
	catalogue := loaded(t)
	for _, s := range catalogue.Scenarios() {
		words := ""
		for _, step := range s.Steps {
			words += step.Keyword + " "
		}
		assert.Contains(t, words, "When", s.Key())
		assert.Contains(t, words, "Then", s.Key())
	}
}

func TestParseRefuses(t *testing.T) {
	const head = "@control-plane\nFeature: F\n"
	const rule = "@CP-X-1 @must @section-1\nRule: R\n"
	const scenario = "Scenario: S\nGiven a\nWhen b\nThen c\n"
	for name, c := range map[string]struct{ text, says string }{
		"no feature":         {"# nothing\n", "no feature in the file"},
		"no rule":            {head, "has no rule"},
		"scenario outside":   {head + scenario, "is outside of any rule"},
		"rule without tags":  {head + "Rule: R\n" + scenario, "needs tags for ID, level and section"},
		"rule without level": {head + "@CP-X-1 @section-1\nRule: R\n" + scenario, "needs tags for ID, level and section"},
		"unknown tag":        {head + "@CP-X-1 @must @section-1 @odd\nRule: R\n" + scenario, "a.feature:5: tag @odd is unknown"},
		"a rule's tag":       {head + rule + "@form\n" + scenario, "a.feature:5: tag @form describes a rule"},
		"unknown deployment": {head + rule + "@shares:none\n" + scenario, "a.feature:6: tag @shares:none: give one of deployment, another, "},
		"misspelled":         {head + rule + "@shares:deploymnt\n" + scenario, "did you mean deployment? give one of"},
		"needs nothing":      {head + rule + "@needs\n" + scenario, "tag @needs: the value is"},
		"not a number":       {head + rule + "@creates:one\n" + scenario, "tag @creates:one"},
		"no such cause":      {head + rule + scenario + "@CP-X-2 @must @section-1 @after:CP-X-3\nRule: S\nScenario: T\nGiven a\n", "CP-X-2: tag @after:CP-X-3: there is no such requirement"},
		"a weaker cause":     {head + "@CP-X-1 @should @section-1\nRule: R\n" + scenario + "@CP-X-2 @must @section-1 @after:CP-X-1\nRule: S\nScenario: T\nGiven a\n", "a SHOULD cannot explain a MUST"},
		"causes in a circle": {head + "@CP-X-1 @must @section-1 @after:CP-X-2\nRule: R\n" + scenario + "@CP-X-2 @must @section-1 @after:CP-X-1\nRule: S\nScenario: T\nGiven a\n", "each would explain the other"},
		"a leak":             {head + rule + scenario + "@CP-X-2 @must @section-1 @isolation @after:CP-X-1\nRule: S\nScenario: T\nGiven a\n", "a leak between users is never explained"},
		"no profile":         {"Feature: F\n" + rule + scenario, "needs tags for ID, level and section"},
		"no capability":      {head + rule + scenario, "a.feature:4: CP-X-1 is in no capability of control-plane: add it to the requirements of one of control-plane-core, paging"},
		"other capability":   {strings.Replace(head, "control-plane", "agent-server", 1) + strings.Replace(rule, "CP-X-1", "CP-GET-1", 1) + scenario, "a.feature:4: CP-GET-1 is in no capability of agent-server: add it to the requirements of one of agent-server-core"},
		"no scenario":        {head + rule + "Senario: S\n", "has no scenario"},
		"twice the name":     {head + rule + scenario + scenario, "has the same name as line"},
		"open quote":         {head + rule + "\"Quoted.\nJudged.\n" + scenario, `a.feature:4: rule "R": the quote of the interface is not closed`},
		"broken":             {head + rule + "Scenario: S\nGiven x\nnonsense\n", "parsing feature"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := features.Parse(fstest.MapFS{"a.feature": {Data: []byte(c.text)}})
			require.ErrorContains(t, err, c.says)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("@control-plane\nFeature: F\n@CP-GET-1 @must @section-1\nRule: R\nScenario: S\nGiven a\n")
	f.Add("Feature: F\nScenario Outline: <a>\nExamples:\n|a|\n|1|\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := features.Parse(fstest.MapFS{"a.feature": {Data: []byte(text)}})
		if err == nil && len(c.Requirements) == 0 && len(c.Scenarios()) > 0 {
			t.Fatal("scenarios without a requirement")
		}
	})
}

func TestDigestHoldsNamesAndContents(t *testing.T) {
	digest := func(files ...features.File) string { return (&features.Catalogue{Files: files}).Digest() }
	a, b := features.File{URI: "a", Content: []byte("x")}, features.File{URI: "b", Content: []byte("y")}
	assert.Equal(t, digest(a, b), digest(b, a), "the order is fixed")
	for _, other := range []string{
		digest(a), digest(a, features.File{URI: "c", Content: b.Content}), digest(a, features.File{URI: "b", Content: a.Content}),
		digest(features.File{URI: "ax"}, b), // the same text, divided at another place
	} {
		assert.NotEqual(t, digest(a, b), other)
	}
}
