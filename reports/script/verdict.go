package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// canDecide reports whether the check of a finding can judge the response that the script shows.
func (s *script) canDecide(f *reports.Finding) bool {
	if f.Check == nil || len(f.Check.Statuses) == 0 || f.Exchange != s.shown {
		return false
	}
	// A text may be missing only for a moment, and a script does not repeat writes.
	x, err := s.result.Exchange(s.shown)
	return len(f.Check.Requires) == 0 || err == nil && x.Method == "GET"
}

// knowsIDs reports whether the script has a variable for each id in a check: those of the test run are not seen again.
func (s *script) knowsIDs(check *reports.Check) bool {
	return !check.IDs || !slices.ContainsFunc(slices.Concat(check.Lacks, check.Requires), func(text string) bool {
		return !slices.ContainsFunc(s.check.uses, func(v *id) bool { return v.value == text })
	})
}

// writeCheck writes the variables by which the helpers judge a response.
func (s *script) writeCheck() {
	check := s.check.check
	silent := ""
	if s.step(s.shown).Status == 0 {
		silent = "yes"
	}
	fmt.Fprintf(&s.text, "  statuses=%s contains=%s lacks=%s requires=%s silent='%s' # what the next response must be like\n",
		safe.ShellWord(strings.Join(check.Statuses, " ")), s.lines(check.Contains), s.lines(check.Lacks), s.lines(check.Requires), silent)
}

// lines returns texts as one word of a shell, one on each line, with variables for the ids in them.
func (s *script) lines(texts []string) string {
	if len(texts) == 0 {
		return "''"
	}
	word := safe.ShellWord(strings.Join(texts, "\n"))
	return quoted.ReplaceAllStringFunc(word, func(part string) string { return s.withVariables(s.check, part) })
}

// quoted matches text in single quotes.
var quoted = regexp.MustCompile(`'[^']*'`)

// writeEnd writes the last line of main: the verdict, or the values that a reader has to compare.
func (s *script) writeEnd(f *reports.Finding) {
	number := s.step(s.shown).number
	if !s.decides {
		fmt.Fprintf(&s.text, "  compare %d %s %s\n", number, safe.ShellWord(comment(f.ExpectedLine())), safe.ShellWord(comment(f.ActualLine())))
		return
	}
	fmt.Fprintf(&s.text, "  decide %d %s %s %s\n", number, s.expectation(), safe.ShellWord(s.doubt(f)), safe.ShellWord(s.others(f)))
}

// expectation describes the statuses of the check as one word of a shell: '422', '401 or 403'.
func (s *script) expectation() string {
	check := s.check.check
	all := strings.ToLower(strings.Join(check.Statuses, " or "))
	switch all {
	case "1xx or 2xx or 3xx or 4xx or 5xx":
		all = "a response"
	case "2xx or 3xx or 4xx":
		all = "a status below 500"
	case "4xx or 5xx":
		all = "a status of 400 or above"
	}
	return safe.ShellWord(safe.Line(all))
}

// doubt returns the reason why one correct response does not show that the finding is fixed, or "".
func (s *script) doubt(f *reports.Finding) string {
	overlaps := func(x *step) bool { return x.background && x.Method != "GET" }
	switch {
	case f.Seen < f.Judged:
		return "the test run saw the failure only " + f.Attempts()
	case slices.ContainsFunc(s.steps, overlaps):
		return "requests overlap, so the failure may depend on their timing"
	}
	return ""
}

// others returns a note about the other responses that showed the finding, which the script does not judge, or "".
func (s *script) others(f *reports.Finding) string {
	if f.Count < 2 {
		return ""
	}
	note := fmt.Sprintf("This is one of %d responses that showed the finding.", f.Count)
	if command := s.result.Run.ReplayCommand(f.ID); command != "" {
		note += " To judge all: " + safe.Line(command)
	}
	return note
}
