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
	Features   []feature
}

// feature is a group of requirements.
type feature struct {
	Name         string
	Requirements []requirement
}

// requirement is one line of the list of all requirements.
type requirement struct {
	*reports.Requirement
	Part    string // slug, set by partsOf
	Label   string // text for the verdict
	Problem int    // number of the problem that contains its failure, or 0
	Rule    *rule  // set in the page of the specification
}

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

// requirements returns the lines of the list of all requirements.
func (p *page) requirements() (all []requirement) {
	for q := range reports.Each(p.Result.Requirements) {
		v := requirement{Requirement: q, Label: p.Label(q)}
		if problem := p.ProblemOf(q); problem != nil && q.Verdict == reports.Failed {
			v.Problem = problem.Number
		}
		all = append(all, v)
	}
	return all
}

// partsOf groups requirements by part of the interface and by feature.
func partsOf(requirements []requirement) (parts []part) {
	for _, name := range partNames {
		one := part{Name: name, Slug: reports.Slug(name)}
		for _, q := range requirements {
			if partName(q.Profile) != name {
				continue
			}
			one.N++
			if q.Verdict == reports.Passed {
				one.Passed++
			}
			last := len(one.Features) - 1
			if last < 0 || one.Features[last].Name != q.Feature {
				one.Features = append(one.Features, feature{Name: q.Feature})
				last++
			}
			q.Part = one.Slug
			one.Features[last].Requirements = append(one.Features[last].Requirements, q)
		}
		if one.N > 0 {
			parts = append(parts, one)
		}
	}
	return parts
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
func (f feature) Counts() string {
	numbers := map[overview.Class]int{}
	for _, q := range f.Requirements {
		numbers[overview.Word(q.Verdict)]++
	}
	return overview.CountsOf(numbers).String()
}

// countScenarios counts scenarios by the word for their verdict: "16 passed, 1 failed".
func countScenarios(scenarios []reports.Scenario) string {
	numbers := map[overview.Class]int{}
	for _, s := range scenarios {
		numbers[overview.Word(s.Verdict)]++
	}
	return overview.CountsOf(numbers).String()
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

// quoteText returns a quotation as sentences. A quotation of a table has its cells with " ... " between them: "created_at
// ... date-time ... Read-only." becomes "created_at: date-time … Read-only."
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
