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

// allReports is the value of the flag --reports for all reports.
const allReports = "all"

var (
	// defaultReports are the reports of a test run without the flag --reports.
	defaultReports = []Report{ReportHTML, ReportJSON, ReportJUnit, ReportSummary, ReportBadge, ReportSupport,
		ReportScripts}
	everyReport = slices.Concat(defaultReports, []Report{ReportHAR, ReportCucumber})
)

// reportFiles has the name of the file or folder of each report.
var reportFiles = map[Report]string{ReportJSON: "result.json", ReportHTML: "index.html", ReportJUnit: "junit.xml",
	ReportSummary: "summary.md", ReportBadge: "badge.svg", ReportSupport: "support.json", ReportScripts: "scripts",
	ReportHAR: "result.har", ReportCucumber: "cucumber.json"}

// File returns the name of the file or folder of a report.
func (r Report) File() string { return reportFiles[r] }

// ParseReports returns the reports in the value of the flag --reports, such as "html,har" or "all".
func ParseReports(value string) ([]Report, error) {
	var chosen []Report
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		report := Report(name)
		switch {
		case name == allReports:
			chosen = slices.Clone(everyReport)
		case slices.Contains(everyReport, report):
			chosen = append(chosen, report)
		default:
			return nil, fmt.Errorf("%q is not a report: give %s, several of these separated by commas, or %s", name,
				joinReports(everyReport), allReports)
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
		return defaultReports
	}
	if !slices.Contains(chosen, ReportJSON) {
		chosen = append(chosen, ReportJSON)
	}
	return chosen
}

// Writes reports whether the folder of the test run has a report.
func (r *Run) Writes(report Report) bool { return slices.Contains(r.Reports(), report) }

// Page returns the path of the page, or the path of result.json if there is no page. out is the folder of the reports.
func (r *Run) Page(out string) string {
	if r.Writes(ReportHTML) {
		return out + "/" + ReportHTML.File()
	}
	return out + "/" + ReportJSON.File()
}
