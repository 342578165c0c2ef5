package reports

import (
	"fmt"
	"slices"
	"strings"
)

// Report is a report that a test run writes into its folder. Its value is its name in the flag --reports.
type Report string

// The reports. result.json and the file with the exchanges are always written, because replay and compare read them.
const (
	ReportJSON     Report = "json"
	ReportHTML     Report = "html"
	ReportJUnit    Report = "junit"
	ReportSummary  Report = "summary"
	ReportBadge    Report = "badge"
	ReportSupport  Report = "support"
	ReportScripts  Report = "scripts"
	ReportHAR      Report = "har"
	ReportCucumber Report = "cucumber"
)

// AllReports is the value of the flag --reports for all reports.
const AllReports = "all"

var (
	// DefaultReports are the reports of a test run without the flag --reports.
	DefaultReports = []Report{ReportHTML, ReportJSON, ReportJUnit, ReportSummary, ReportBadge, ReportSupport,
		ReportScripts}
	everyReport = slices.Concat(DefaultReports, []Report{ReportHAR, ReportCucumber})
)

// File returns the name of the file or folder of a report.
func (r Report) File() string {
	switch r {
	case ReportHTML:
		return "index.html"
	case ReportJUnit:
		return "junit.xml"
	case ReportSummary:
		return "summary.md"
	case ReportBadge:
		return "badge.svg"
	case ReportSupport:
		return "support.json"
	case ReportScripts:
		return "scripts"
	case ReportHAR:
		return "result.har"
	case ReportCucumber:
		return "cucumber.json"
	default:
		return "result.json"
	}
}

// ParseReports returns the reports in the value of the flag --reports, such as "html,har" or "all".
func ParseReports(value string) ([]Report, error) {
	var chosen []Report
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		report := Report(name)
		switch {
		case name == AllReports:
			chosen = slices.Clone(everyReport)
		case slices.Contains(everyReport, report):
			chosen = append(chosen, report)
		default:
			return nil, fmt.Errorf("%q is no report: give %s, several of these separated by commas, or %s", name,
				joinReports(everyReport), AllReports)
		}
	}
	return chosen, nil
}

func joinReports(all []Report) string {
	var names []string
	for _, r := range all {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// Reports returns the reports in the folder of the test run.
func (r *Run) Reports() []Report {
	chosen, err := ParseReports(r.Flag("--reports"))
	if err != nil { // the flag is not set
		return DefaultReports
	}
	if !slices.Contains(chosen, ReportJSON) {
		chosen = append(chosen, ReportJSON)
	}
	return chosen
}

// Writes reports whether the folder of the test run has a report.
func (r *Run) Writes(report Report) bool { return slices.Contains(r.Reports(), report) }

// Page returns the path of the page, or that of result.json if there is no page. out is the folder of the reports.
func (r *Run) Page(out string) string {
	if r.Writes(ReportHTML) {
		return out + "/" + ReportHTML.File()
	}
	return out + "/" + ReportJSON.File()
}
