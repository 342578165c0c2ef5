// Package export writes a result into a folder in several formats. Start with [Write].
package export

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/badge"
	"github.com/agentconform/agentconform/reports/cucumber"
	"github.com/agentconform/agentconform/reports/har"
	"github.com/agentconform/agentconform/reports/html"
	"github.com/agentconform/agentconform/reports/junit"
	"github.com/agentconform/agentconform/reports/markdown"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/reports/script"
	"github.com/agentconform/agentconform/reports/support"
)

// formats are the reports with one file each. The result itself is the first, so that it exists even if the disk becomes
// full.
var formats = []struct {
	report reports.Report
	write  func(io.Writer, *reports.Result) error
}{
	{reports.ReportJSON, func(w io.Writer, r *reports.Result) error { return r.WriteJSON(w) }},
	{reports.ReportJUnit, junit.Write},
	{reports.ReportSummary, markdown.Write},
	{reports.ReportBadge, badge.Write},
	{reports.ReportCucumber, cucumber.Write},
	{reports.ReportHTML, html.Write},
	{reports.ReportHAR, har.Write},
	{reports.ReportSupport, support.Write},
}

func files(isChosen func(reports.Report) bool) outfile.Set[*reports.Result] {
	set := outfile.Set[*reports.Result]{Mark: `"agentconform.result/`}
	for _, f := range formats {
		if isChosen(f.report) {
			set.Files = append(set.Files, outfile.File[*reports.Result]{Name: f.report.File(), Write: f.write})
		}
	}
	set.Files = append(set.Files, outfile.File[*reports.Result]{Name: reports.ExchangesFile,
		Write: func(w io.Writer, r *reports.Result) error { return r.WriteExchanges(w) }})
	return set
}

func all(reports.Report) bool { return true }

// scripts is the folder of the scripts that repeat the requests of findings.
const scripts = "scripts"

// Check returns an error if [Write] may not write into the folder because it has a file of another program.
func Check(dir string) error {
	return errors.Join(files(all).Check(dir), checkFolder(dir, scripts), checkFolder(dir, badges))
}

// checkFolder returns an error if the path of a folder of reports exists but is not a folder, for example a link.
func checkFolder(dir, name string) error {
	if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
		return &outfile.Refused{Path: filepath.Join(dir, name), Problem: "is not a folder"}
	}
	return nil
}

// Begin creates the folder for the reports of a test run, and removes the reports of an earlier one.
func Begin(dir string) error {
	if err := files(all).Begin(dir); err != nil {
		return err
	}
	return errors.Join(removeOwn(dir, scripts, scriptName), removeOwn(dir, badges, badgeName))
}

// Write creates the folder if necessary, and writes the reports of the test run (the flag --reports).
func Write(dir string, r *reports.Result) error {
	r.ExchangesFile = reports.ExchangesFile
	if err := files(r.Run.Writes).Write(dir, r); err != nil {
		return err
	}
	if err := writeScripts(dir, r); err != nil {
		return err
	}
	if !r.Run.Writes(reports.ReportBadge) {
		return nil
	}
	return writeBadges(dir, r)
}

// removeOwn removes the scripts or badges of an earlier test run: the files in a folder whose names match, and then the
// folder if it is empty.
func removeOwn(dir, name string, own *regexp.Regexp) error {
	if err := checkFolder(dir, name); err != nil {
		return err
	}
	folder := filepath.Join(dir, name)
	files, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for %s of an earlier test run: %w", name, err)
	}
	for _, f := range files {
		if !own.MatchString(f.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, f.Name())); err != nil {
			return fmt.Errorf("removing the %s of an earlier test run: %w", name, err)
		}
	}
	_ = os.Remove(folder) // fails if it has other files or does not exist
	return nil
}

// scriptName matches the names of scripts: the ID of a requirement and the ID of a finding.
var scriptName = regexp.MustCompile(`^(CP|AS|E2E)-[\w-]+-[0-9a-f]{12}\.sh$`)

// writeScripts writes the scripts of the first findings. If a finding cannot have a script, the file prints the reason.
func writeScripts(dir string, r *reports.Result) error {
	if err := removeOwn(dir, scripts, scriptName); err != nil {
		return err
	}
	for i := range r.Findings {
		name := script.Path(r, &r.Findings[i])
		if name == "" {
			continue
		}
		var b strings.Builder
		if err := script.Write(&b, r, &r.Findings[i]); err != nil {
			b.Reset()
			fmt.Fprintf(&b, "#!/usr/bin/env bash\necho 'no script for this finding: '%s >&2\nexit 1\n",
				safe.ShellWord(safe.Line(err.Error())))
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := outfile.Text(path, outfile.Public, []byte(b.String())); err != nil {
			return fmt.Errorf("writing the script %s: %w", path, err)
		}
	}
	return nil
}
