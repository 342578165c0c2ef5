package export

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/reports/script"
)

// Scripts is the folder of the scripts that send the requests of a finding again.
const Scripts = "scripts"

// ours are the names of scripts: those of an earlier run are removed.
var ours = regexp.MustCompile(`^[A-Z]{2}-.+-[0-9a-f]{12}\.sh$`)

// checkScripts refuses what is in the place of the folder of the scripts and is none, such as a link.
func checkScripts(dir string) error {
	if info, err := os.Lstat(filepath.Join(dir, Scripts)); err == nil && !info.IsDir() {
		return &outfile.Refused{Path: filepath.Join(dir, Scripts), Problem: "is not a folder"}
	}
	return nil
}

// writeScripts writes the scripts of the first findings. Where there can be none, the file says why.
func writeScripts(dir string, r *reports.Result) error {
	if err := checkScripts(dir); err != nil {
		return err
	}
	old, _ := os.ReadDir(filepath.Join(dir, Scripts)) // it need not be there
	for _, e := range old {
		if ours.MatchString(e.Name()) && e.Type().IsRegular() {
			if err := os.Remove(filepath.Join(dir, Scripts, e.Name())); err != nil {
				return fmt.Errorf("removing a script of an earlier run: %w", err)
			}
		}
	}
	for i := range r.Findings {
		name := overview.ScriptPath(r, &r.Findings[i])
		if name == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Join(dir, Scripts), 0o755); err != nil {
			return fmt.Errorf("making the folder for the scripts: %w", err)
		}
		var b strings.Builder
		if err := script.Write(&b, r, &r.Findings[i]); err != nil {
			b.Reset()
			fmt.Fprintf(&b, "#!/usr/bin/env bash\necho 'no script for this finding: '%s >&2\nexit 1\n", safe.ShellWord(safe.Line(err.Error())))
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := outfile.Text(path, outfile.Public, []byte(b.String())); err != nil {
			return fmt.Errorf("writing the script %s: %w", path, err)
		}
	}
	return nil
}
