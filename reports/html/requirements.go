package html

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// part is a part of the interface with its requirements, grouped by feature.
type part struct {
	Name, Slug string
	Passed, N  int
	Features   []*feature
}

// feature is a group of requirements.
type feature struct {
	Name         string
	Open         bool
	Requirements []requirement
}

// requirement is one line of the list of all requirements.
type requirement struct {
	*reports.Requirement
	Part    string // slug
	Label   string // text for the verdict
	Problem int    // number of the problem that shows its failure, or 0
	Rule    *rule  // set in the page of the specification
}

// partNames are the parts of the interface.
var partNames = []string{"Control plane", "Agent server", "Across both"}

func partName(profile string) string {
	switch profile {
	case "control-plane":
		return partNames[0]
	case "agent-server":
		return partNames[1]
	}
	return partNames[2]
}

// parts returns all requirements by part of the interface.
func (p *page) parts() (parts []*part) {
	for _, name := range partNames {
		one := &part{Name: name, Slug: reports.Slug(name)}
		for q := range reports.Each(p.Result.Requirements) {
			if partName(q.Profile) != name {
				continue
			}
			one.N++
			if q.Verdict == reports.Passed {
				one.Passed++
			}
			v := requirement{Requirement: q, Part: one.Slug, Label: p.Label(q)}
			if problem := p.ProblemOf(q); problem != nil && q.Verdict == reports.Failed {
				v.Problem = problem.Number
			}
			one.add(v)
		}
		if one.N > 0 {
			parts = append(parts, one)
		}
	}
	return parts
}

func (one *part) add(q requirement) {
	if len(one.Features) == 0 || one.Features[len(one.Features)-1].Name != q.Feature {
		one.Features = append(one.Features, &feature{Name: q.Feature, Open: q.Rule != nil})
	}
	f := one.Features[len(one.Features)-1]
	f.Requirements = append(f.Requirements, q)
}

// Label returns the word for the verdict of a requirement.
func (p *page) Label(q *reports.Requirement) string {
	word := string(overview.Word(q.Verdict))
	if class := p.ClassOf(q); class == overview.Known || class == overview.Warning {
		return string(class) + ": " + word
	}
	return word
}

// Counts returns the number of requirements by the word for their verdict: "8 passed, 1 not tested".
func (f *feature) Counts() string {
	var verdicts []reports.Verdict
	for _, q := range f.Requirements {
		verdicts = append(verdicts, q.Verdict)
	}
	return countWords(verdicts)
}

// countScenarios counts scenarios by the word for their verdict: "16 passed, 1 failed".
func countScenarios(scenarios []reports.Scenario) string {
	var verdicts []reports.Verdict
	for _, s := range scenarios {
		verdicts = append(verdicts, s.Verdict)
	}
	return countWords(verdicts)
}

func countWords(verdicts []reports.Verdict) string {
	numbers := map[overview.Class]int{}
	for _, v := range verdicts {
		numbers[overview.Word(v)]++
	}
	var parts []string
	for _, word := range overview.Words {
		if numbers[word] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", numbers[word], word))
		}
	}
	return strings.Join(parts, ", ")
}

// interfaceURL is the address of the interface description.
const interfaceURL = "https://github.com/agentconform/agentconform/blob/main/spec/INTERFACE.md"

// sectionTitles are the titles of its sections, of which the first has the number 1.
var sectionTitles = []string{"What the service does", "Resources and their fields", "States and transitions", "Endpoints",
	"Authentication", "Events", "Errors", "Limits", "Versioning"}

// section is a link to a section of the interface description.
type section struct{ Title, URL string }

// sectionsOf returns the sections with these numbers: "2, 4".
func sectionsOf(numbers string) (sections []section) {
	for _, number := range strings.Split(numbers, ", ") {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(sectionTitles) {
			continue
		}
		title := sectionTitles[n-1]
		sections = append(sections, section{fmt.Sprintf("section %d: %s", n, title),
			fmt.Sprintf("%s#%d-%s", interfaceURL, n, reports.Slug(title))})
	}
	return sections
}

// subject matches the first cell of a row in a table of the interface: a field, a status, or a method and a path.
var subject = regexp.MustCompile(`^([a-z_]+|\d{3}|(GET|POST|PATCH) /\S+)$`)

// quoteText returns a quotation as sentences. Quotations of tables are cells with " ... " between them: "created_at ...
// date-time ... Read-only." becomes "created_at: date-time … Read-only."
func quoteText(quote string) string {
	text, separator := "", ""
	for _, cell := range strings.Split(quote, " ... ") {
		isSubject := subject.MatchString(cell)
		if isSubject && separator == " … " && !strings.HasSuffix(text, ".") {
			separator = "; "
		}
		text += separator + cell
		separator = " … "
		if isSubject {
			separator = ": "
		}
	}
	return text
}
