package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// line is a row for the console.
func (r *row) line() string {
	state := "ok   "
	if len(r.Wrong) > 0 {
		state = "WRONG"
	}
	s := fmt.Sprintf("%s %-10s %-34s %-14s %5.1f s, %4.1f s CPU, %4d MB", state, r.Group, r.Name, r.Verdict, r.Seconds, r.CPU, r.Megabytes)
	if r.Alone {
		s += "  measured once more, alone"
	}
	if len(r.Wrong) > 0 {
		s += "  " + strings.Join(r.Wrong, "; ")
	}
	return s
}

// summary says in one line how the runs ended.
func summary(rows []row) string {
	var wrong, alone int
	for _, r := range rows {
		if r.wrong() {
			wrong++
		}
		if r.Alone {
			alone++
		}
	}
	slowest := slices.MaxFunc(rows, func(a, b row) int { return cmp.Compare(a.Seconds, b.Seconds) })
	largest := slices.MaxFunc(rows, func(a, b row) int { return cmp.Compare(a.Megabytes, b.Megabytes) })
	return fmt.Sprintf("%d hostile modes, %d wrong, %d measured once more alone; slowest %s with %.1f s, largest %s with %d MB",
		len(rows), wrong, alone, slowest.Name, slowest.Seconds, largest.Name, largest.Megabytes)
}

// write writes the table as Markdown and as JSON.
func write(folder string, rows []row) error {
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "hostile.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Hostile targets\n\n%s.\n\n| group | mode | the target | verdict | exit code | seconds | of CPU | megabytes | wrong |\n| --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n", summary(rows))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %.1f | %.1f | %d | %s |\n", r.Group, r.Name, r.Does, r.Verdict, r.Exit, r.Seconds, r.CPU, r.Megabytes, cell(strings.Join(r.Wrong, "; ")))
	}
	return os.WriteFile(filepath.Join(folder, "hostile.md"), []byte(b.String()), 0o644)
}

// cell is a text for a cell of a table.
func cell(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s) }
