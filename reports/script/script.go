// Package script writes the exchanges that led to a finding as a bash script of curl lines, one after the other. The
// script takes ids from the responses that it gets. It repeats a read for a limited time until the response is like the
// recorded one. A request that had no response when the next one was sent is sent in the background. At the end it
// removes what it created, and its exit code says whether the last response is still wrong ([reports.Check]). It claims
// that a response is right only if all steps before it had a status as in the test run.
//
// In the recorded curl lines all text of the target is in single quotes and secrets are names of variables. Only the
// curl lines of this program have this form, so results that were read from a file get no scripts. Requests are only
// sent to the targets of the result.
package script

import (
	_ "embed" // helpers.sh
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/reports/story"
)

//go:embed helpers.sh
var helpers string

// maxScripts is the maximum number of findings of a result that get a script.
const maxScripts = 50

// fileName matches IDs that are safe in the name of a file on every system: the result may come from anywhere.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// Path returns the path of the script of a finding, relative to the folder of the reports, or "" if it has no script.
func Path(r *reports.Result, f *reports.Finding) string {
	hasName := fileName.MatchString(f.Requirement) && fileName.MatchString(f.ID)
	if !r.Run.Writes(reports.ReportScripts) || len(f.Links()) == 0 || !hasName {
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
	return "agentconform exec" + r.Run.Flags("--config") + " -- bash " + reports.ShellWord(path.Join(folder, file))
}

// Write writes the script of a finding. The error is that of w, or the reason why there is no script.
func Write(w io.Writer, r *reports.Result, f *reports.Finding) error {
	s := &script{result: r, secrets: map[string]bool{}}
	s.sentences, s.users = story.Requests(r, f)
	if err := s.readSteps(f); err != nil {
		return err
	}
	s.findIDs(f.Check)
	s.decides = s.decides && s.knowsIDs(f.Check)
	for i, each := range s.steps {
		if err := s.writeStep(i, each); err != nil {
			return err
		}
	}
	s.text.WriteString("\n  wait\n")
	s.writeEnd(f)
	var b strings.Builder
	s.writeHeader(&b, f)
	b.WriteString("\nmain() {\n")
	for _, name := range slices.Sorted(maps.Keys(s.secrets)) {
		fmt.Fprintf(&b, "  need %s\n", name)
	}
	fmt.Fprintf(&b, "%s}\n\n%s", s.text.String(), helpers)
	fmt.Fprintf(&b, "set -eu\ncommand=%s\n", safe.ShellWord(safe.Line(Command(r, f, r.Run.Out()))))
	fmt.Fprintf(&b, "created=%s dir= verdict=\n", safe.ShellWord(s.created()))
	b.WriteString("trap finish EXIT\ntrap \"trap '' INT TERM; exit 130\" INT TERM\n")
	b.WriteString("run=\"$(date +%s)-$$\" # makes the names of created objects unique\ndir=$(mktemp -d)\nmain\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeHeader writes the comment at the top.
func (s *script) writeHeader(b *strings.Builder, f *reports.Finding) {
	title := f.Step
	if q := s.result.Requirement(f.Requirement); q != nil {
		title = q.Title
	}
	targets := strings.TrimSpace(s.result.Target.ControlPlane + " " + s.result.Target.AgentServer)
	fmt.Fprintf(b, "#!/usr/bin/env bash\n# %s: %s\n", comment(f.Requirement), comment(title))
	fmt.Fprintf(b, "# %s: expected %s, got %s\n#\n", comment(f.Summary), comment(f.ExpectedLine()), comment(f.ActualLine()))
	fmt.Fprintf(b, "# This script sends the requests that led to this finding to %s. Run it:\n#   %s\n", comment(targets),
		comment(Command(s.result, f, s.result.Run.Out())))
	for _, user := range s.users {
		fmt.Fprintf(b, "# %s has the credentials %s.\n", comment(user.Name), user.Key)
	}
	b.WriteString("# It needs bash and curl. At the end it removes what it created; with KEEP=1 it does not.\n" +
		"# Exit codes: 0 now as expected, 1 still failing, 2 a secret is not set, 3 could not tell.\n")
}

func comment(s string) string { return safe.Line(safe.Cut(s, 300)) }

// script is the script of one finding while it is written.
type script struct {
	result  *reports.Result
	steps   []*step
	shown   int             // the exchange whose response is printed
	decides bool            // the check of the finding applies to that response
	check   *step           // uses the ids in the check; nil if decides is false
	secrets map[string]bool // names of variables
	text    strings.Builder // lines of the steps

	sentences map[int]string // sentences about the requests, by the id of the exchange
	users     []story.User   // users in the sentences
}

// writeStep writes the lines of a step: it waits for background requests, takes ids from responses, and sends the
// request.
func (s *script) writeStep(i int, each *step) error {
	arguments, err := s.request(each)
	if err != nil {
		return err
	}
	s.text.WriteString("\n")
	for _, before := range s.steps[:i] {
		needed := slices.ContainsFunc(each.uses, func(v *id) bool { return v.from == before })
		if before.waits && (needed || before.end <= each.begin+1) {
			before.waits = false
			fmt.Fprintf(&s.text, "  wait \"$sent%d\"\n", before.number)
		}
	}
	s.take(each)
	if each.ID == s.shown && s.decides {
		s.take(s.check)
		s.writeCheck()
	}
	s.writeTiming(i)
	sentence := s.sentences[each.ID]
	if s.isByOther(each) {
		sentence += " (by another scenario)"
	}
	sentence = safe.ShellWord(comment(sentence))
	switch {
	case each.background:
		fmt.Fprintf(&s.text, "  step %d %s %s \\\n    %s &\n  sent%d=$!\n", each.number, s.wanted(each), sentence, arguments, each.number)
	case each.ID == s.shown && s.decides && each.Method == "GET":
		patient := ""
		if each.tolerated {
			patient = "patient"
		}
		fmt.Fprintf(&s.text, "  watch %d %s %d '%s' \\\n    %s\n", each.number, sentence, each.seconds(), patient, arguments)
	case each.Status != 0 && each.isRepeated(s.shown):
		fmt.Fprintf(&s.text, "  %spoll %d %d %s %d \\\n    %s\n", s.conditions(each), each.number, each.Status, sentence, s.longest(each), arguments)
	default:
		fmt.Fprintf(&s.text, "  step %d %s %s \\\n    %s\n", each.number, s.wanted(each), sentence, arguments)
	}
	return nil
}

// take writes lines that set the variables of a step.
func (s *script) take(each *step) {
	for _, v := range each.uses {
		if !v.taken {
			v.taken = true
			fmt.Fprintf(&s.text, "  take %s %d %s %d\n", v.name, v.from.number, v.key, v.nth)
		}
	}
}

// wanted returns the status that a step must have so that the last response means the same as in the test run. It is "-"
// for the last step and for updates by other scenarios: a correct server may refuse what they sent.
func (s *script) wanted(each *step) string {
	if each.ID == s.shown || s.isByOther(each) {
		return "-"
	}
	return fmt.Sprintf("%03d", each.Status)
}

// Patterns of the status in a response body, which grep also reads. A revision with a settled status does not change it.
var (
	status  = regexp.MustCompile(`"status" *: *"[^"\\\n]*"`)
	settled = regexp.MustCompile(`"status" *: *"(DEPLOYED|SKIPPED|INTERRUPTED|UNKNOWN|[A-Z_]*FAILED)"`)
)

// conditions returns the variables for poll that describe the response which ends it.
func (s *script) conditions(each *step) (assignments string) {
	pattern := ""
	recorded := status.FindString(each.Response.Body)
	if each.ID == s.shown {
		pattern = regexp.QuoteMeta(recorded)
	} else if settled.MatchString(recorded) {
		pattern = settled.String() // the settled status of an earlier revision depends on when the next one was created
	}
	if pattern != "" {
		assignments = "like=" + safe.ShellWord(pattern) + " "
	}
	var values []string
	for _, v := range each.gives {
		values = append(values, fmt.Sprintf("%s:%d", v.key, v.nth))
	}
	if len(values) > 0 {
		assignments += "new='" + strings.Join(values, " ") + "' "
	}
	return assignments
}

// longest returns the maximum number of seconds for which a script polls.
func (s *script) longest(each *step) int64 {
	if each.part == reports.SetUp {
		return max(each.seconds(), 90)
	}
	return each.seconds()
}

// isByOther reports whether another scenario updated the deployment before.
func (s *script) isByOther(each *step) bool {
	return each.part == reports.SetUp && each.Method == "PATCH" && each.Scenario != s.step(s.shown).Scenario &&
		!strings.HasPrefix(each.Scenario, "fixture: ")
}

// created returns the steps that may create a thread or a deployment, the last one first, each with the key of its id.
func (s *script) created() string {
	var all []string
	for _, each := range slices.Backward(s.steps) {
		switch {
		case each.Method != "POST":
		case strings.HasSuffix(each.URL, "/threads"):
			all = append(all, fmt.Sprintf("%d:thread_id", each.number))
		case strings.HasSuffix(each.URL, "/v2/deployments"):
			all = append(all, fmt.Sprintf("%d:id", each.number))
		}
	}
	return strings.Join(all, " ")
}
