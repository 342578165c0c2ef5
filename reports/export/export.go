// Package export writes a result into a folder, in every format there is.
package export

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/badge"
	"github.com/agentconform/agentconform/reports/cucumber"
	"github.com/agentconform/agentconform/reports/har"
	"github.com/agentconform/agentconform/reports/html"
	"github.com/agentconform/agentconform/reports/junit"
	"github.com/agentconform/agentconform/reports/markdown"
	"github.com/agentconform/agentconform/reports/outfile"
)

// format is one file that a result is written to.
type format struct {
	file  string
	write func(io.Writer, *reports.Result) error
}

// formats lists the files in the order in which they are written: the result itself comes first, so that it exists
// even if the disk is full after it.
func formats() []format {
	return []format{
		{"result.json", func(w io.Writer, r *reports.Result) error { return r.WriteJSON(w) }},
		{"junit.xml", junit.Write},
		{"summary.md", markdown.Write},
		{"badge.svg", badge.Write},
		{"cucumber.json", cucumber.Write},
		{"index.html", func(w io.Writer, r *reports.Result) error { return html.Write(w, r, linked()...) }},
		{"result.har", har.Write},
	}
}

// linked names the files that the HTML page links to.
func linked() []string {
	return []string{"result.json", "junit.xml", "summary.md", "cucumber.json", "result.har"}
}

// Files returns the names of the files that [Write] can write, and that of the folder of scripts.
func Files() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.file)
	}
	return append(names, Scripts)
}

// mark is in the first lines of a result.
const mark outfile.Mark = `"agentconform.result/`

// Check finds out before a run whether [Write] may write into the folder dir: an error names a file that is not ours.
func Check(dir string) error {
	all := formats()
	var others []string
	for _, f := range all[1:] {
		others = append(others, f.file)
	}
	return errors.Join(outfile.Folder(dir, mark, all[0].file, others...), checkScripts(dir))
}

// Write writes the named files into the folder dir, all of [Files] if none is named. Each file appears whole or not at
// all. The folder is created if it does not exist. A name that is not one of Files is an error, and nothing is written.
func Write(dir string, r *reports.Result, names ...string) error {
	for _, name := range names {
		if !slices.Contains(Files(), name) {
			return fmt.Errorf("unknown report %q; reports are %s", name, strings.Join(Files(), ", "))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder for the reports: %w", err)
	}
	for _, f := range formats() {
		if len(names) > 0 && !slices.Contains(names, f.file) {
			continue
		}
		path := filepath.Join(dir, f.file)
		if err := outfile.Write(path, outfile.Public, func(w io.Writer) error { return f.write(w, r) }); err != nil {
			return fmt.Errorf("writing the report %s: %w", path, err)
		}
	}
	if len(names) > 0 && !slices.Contains(names, Scripts) {
		return nil
	}
	return writeScripts(dir, r)
}
