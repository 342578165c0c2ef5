package html_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/html"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// specificationOf makes rules of the requirements of a result, with its findings and exchanges as examples.
func specificationOf(r *reports.Result) html.Specification {
	s := html.Specification{Suite: r.Suite, Excluded: [][3]string{{"What no answer shows", "3", "It cannot be observed."}}}
	for _, q := range r.Requirements {
		fault := html.Fault{Name: "a-fault", Breaks: "does the opposite of " + q.Title}
		rule := html.Rule{Requirement: q, Sections: []string{"section 4: Endpoints"}, After: q.ExplainedBy, Faults: []html.Fault{fault},
			Facts: [][2]string{{"Needs in the configuration", "users"}}, Varies: "may " + q.Reason}
		for _, f := range r.Findings {
			if x, err := r.Exchange(f.Exchange); err == nil && f.Requirement == q.ID {
				rule.Breaks = &html.Example{Fault: fault, Finding: f, Exchange: x}
				rule.Keeps = &html.Example{Exchange: x}
			}
		}
		s.Rules = append(s.Rules, rule)
	}
	return s
}

// specificationPage writes the page of a result's requirements into a file.
func specificationPage(t *testing.T, r *reports.Result) (file, text string) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, html.WriteSpecification(&b, specificationOf(r)))
	file = filepath.Join(t.TempDir(), "specification.html")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	return file, b.String()
}

func TestSpecificationShowsRulesWithExamples(t *testing.T) {
	_, text := specificationPage(t, reporttest.Faulty())
	checkHTML(t, []byte(text))
	_, rule, found := strings.Cut(text, `<details class="req" id="CP-LIST-3"`)
	require.True(t, found)
	rule, _, _ = strings.Cut(rule, `<details class="req"`)
	for _, want := range []string{
		"<blockquote>Invalid request parameters", "section 4: Endpoints", "Needs in the configuration: users", "The limit &#34;101&#34; is refused",
		"When</span> the client lists its revisions", "<b>a-fault</b>: does the opposite", "Keeps it", "Breaks it", "<b>a-fault</b>: list-revisions: expected status 422",
	} {
		assert.Contains(t, rule, want)
	}
	assert.Equal(t, 2, strings.Count(rule, `class="exchange"`))
	assert.NotContains(t, rule, "#x", "exchanges have no anchors")
	assert.Contains(t, text, `<mark>1773480413</mark>`, "the place of a finding")
	assert.Contains(t, text, "It cannot be observed.")
}

func TestSpecificationOfHostileResultsHasOnlyOurMarkup(t *testing.T) {
	for name, hostile := range reporttest.HostileTexts() {
		t.Run(name, func(t *testing.T) {
			_, text := specificationPage(t, reporttest.Hostile(hostile))
			checkHTML(t, []byte(text))
		})
	}
}
