// Package script writes the exchanges that led to a finding as a bash script of curl lines, one after the other. The
// script takes ids from the responses that it gets. It repeats a read for a limited time until the response is like the
// recorded one. A request that had no response when the next one was sent is sent in the background. At the end it
// prints the response that shows the violation.
//
// In the recorded curl lines all text of the target is in single quotes and secrets are names of variables. Only the
// curl lines of this program have this form, so results that were read from a file get no scripts. Requests are only
// sent to the targets of the result.
package script

import (
	_ "embed" // prelude.sh
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

//go:embed prelude.sh
var prelude string

// maxScripts is the maximum number of findings of a result that get a script.
const maxScripts = 50

// fileName matches IDs that are safe in the name of a file on every system: the result may come from anywhere.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// Path returns the path of the script of a finding, relative to the folder of the reports, or "" if it has no script.
func Path(r *reports.Result, f *reports.Finding) string {
	hasExchange := f.Exchange != 0 || len(f.Exchanges) > 0
	if !hasExchange || !fileName.MatchString(f.Requirement) || !fileName.MatchString(f.ID) {
		return ""
	}
	same := func(other reports.Finding) bool { return other.ID == f.ID && other.Requirement == f.Requirement }
	if !slices.ContainsFunc(r.Findings[:min(len(r.Findings), maxScripts)], same) {
		return ""
	}
	return "scripts/" + f.Requirement + "-" + f.ID + ".sh"
}

// Command returns the command that runs the script of a finding with the secrets of the configuration in its
// environment, or "" if the finding has no script. folder is the folder of the reports.
func Command(r *reports.Result, f *reports.Finding, folder string) string {
	file := Path(r, f)
	if file == "" {
		return ""
	}
	return execCommand(r) + " -- bash " + reports.ShellWord(path.Join(folder, file))
}

func execCommand(r *reports.Result) string { return "agentconform exec" + r.Run.Flags("--config") }

// Write writes the script of a finding. The error is that of w, or the reason why there is no script.
func Write(w io.Writer, r *reports.Result, f *reports.Finding) error {
	s := &script{result: r, secrets: map[string]bool{}}
	if err := s.readSteps(f); err != nil {
		return err
	}
	s.findIDs()
	for i, each := range s.steps {
		if err := s.writeStep(i, each); err != nil {
			return err
		}
	}
	targets := strings.TrimSpace(r.Target.ControlPlane + " " + r.Target.AgentServer)
	var b strings.Builder
	fmt.Fprintf(&b, "#!/usr/bin/env bash\n# %s, finding %s: sends the requests that led to the finding to %s,\n",
		comment(f.Requirement), comment(f.ID), comment(targets))
	b.WriteString("# and prints the response that shows it. The lines with need name the secrets that must be in the " +
		"environment.\n# The script does not remove what it creates at the target.\n")
	b.WriteString(prelude)
	fmt.Fprintf(&b, "\nexec=%s\n", safe.ShellWord(safe.Line(execCommand(r))))
	for _, name := range slices.Sorted(maps.Keys(s.secrets)) {
		fmt.Fprintf(&b, "need %s\n", name)
	}
	fmt.Fprintf(&b, "%s\nwait\nshow %d\n", s.text.String(), s.shown)
	_, err := io.WriteString(w, b.String())
	return err
}

// comment returns text for a comment, on one line.
func comment(s string) string { return safe.Line(safe.Cut(s, 200)) }

// script is the script of one finding while it is written.
type script struct {
	result  *reports.Result
	steps   []*step
	shown   int             // the exchange whose response is printed
	secrets map[string]bool // names of variables
	text    strings.Builder // the lines of the steps
}

// writeStep writes the lines of a step: it waits for background requests, takes ids from responses, and sends the
// request.
func (s *script) writeStep(i int, each *step) error {
	arguments, err := s.request(each)
	if err != nil {
		return err
	}
	fmt.Fprintf(&s.text, "\n# exchange %d, %s\n", each.ID, comment(string(each.part)))
	for _, before := range s.steps[:i] {
		needed := slices.ContainsFunc(each.uses, func(v *id) bool { return v.from == before })
		if before.background && (needed || before.end <= each.begin+1) {
			before.background = false
			fmt.Fprintf(&s.text, "wait \"$sent%d\"\n", before.ID)
		}
	}
	for _, v := range each.uses {
		if !v.taken {
			v.taken = true
			fmt.Fprintf(&s.text, "take %s %d %s %d\n", v.variable, v.from.ID, v.key, v.nth)
		}
	}
	conditions := s.conditions(each)
	switch {
	case each.background:
		fmt.Fprintf(&s.text, "send %d %s &\nsent%d=$!\n", each.ID, arguments, each.ID)
	case conditions != "":
		fmt.Fprintf(&s.text, "again %s -- %s\n", conditions, arguments)
	default:
		fmt.Fprintf(&s.text, "send %d %s\n", each.ID, arguments)
	}
	return nil
}

// Patterns of the status in a response body. grep reads them too. A revision with a settled status keeps it.
var (
	status  = regexp.MustCompile(`"status" *: *"[^"\\\n]*"`)
	settled = regexp.MustCompile(`"status" *: *"(DEPLOYED|SKIPPED|INTERRUPTED|UNKNOWN|[A-Z_]*FAILED)"`)
)

// conditions returns the arguments of again: for how many seconds the request is repeated, and which response ends it.
// It returns "" if the request is sent once.
func (s *script) conditions(each *step) string {
	if each.Status == 0 || !each.isRepeated(s.shown) {
		return ""
	}
	seconds := 5 + 2*(each.end-each.begin)/1000
	if each.part == reports.SetUp {
		seconds = max(seconds, 90)
	}
	pattern := ""
	recorded := status.FindString(each.Response.Body)
	if each.ID == s.shown {
		pattern = regexp.QuoteMeta(recorded)
	} else if settled.MatchString(recorded) {
		pattern = settled.String() // the settled status of an earlier revision depends on when the next one was created
	}
	arguments := fmt.Sprintf("%d %d %d %s", seconds, each.ID, each.Status, safe.ShellWord(pattern))
	for _, v := range each.gives {
		arguments += fmt.Sprintf(" %s:%d", v.key, v.nth)
	}
	return arguments
}
