package features

import (
	"bytes"
	"slices"
	"strings"
)

// Extract returns the content of a file with only the given scenarios. It omits rules without any of them, and rows of
// examples of other scenarios. Omitted lines are empty, so that all other lines keep their numbers. Executing the extract
// takes less time and memory than skipping most of the scenarios of a file.
func (f File) Extract(selected []*Scenario) []byte {
	lines := bytes.Split(f.Content, []byte("\n"))
	isSelected := map[*Scenario]bool{}
	hasSelected := map[*Requirement]bool{}
	for _, s := range selected {
		isSelected[s] = true
		hasSelected[s.Requirement] = true
	}
	at := func(line int) string { return strings.TrimSpace(string(lines[line-1])) }
	var starts []int // lines at which the rules start
	for _, s := range f.Scenarios {
		start := s.Requirement.Line
		for strings.HasPrefix(at(start-1), "@") {
			start--
		}
		if !slices.Contains(starts, start) {
			starts = append(starts, start)
		}
	}
	starts = append(starts, len(lines)+1)
	for _, s := range f.Scenarios {
		first, last := s.Line, s.Line
		switch {
		case !hasSelected[s.Requirement]:
			i := slices.IndexFunc(starts, func(start int) bool { return start > s.Line })
			first, last = starts[i-1], starts[i]-1
		case isSelected[s] || !strings.HasPrefix(at(s.Line), "|"):
			continue
		}
		for line := first; line <= last; line++ {
			lines[line-1] = nil
		}
	}
	return bytes.Join(lines, []byte("\n"))
}
