// Package script writes the exchanges that led to a finding as a bash script of curl lines, one after the other. Ids
// that an answer gave are taken from the answer that the script gets itself; a read is repeated until the answer is
// as it was recorded, for a limited time; a request that was not answered before the next one was sent is sent in the
// background. The answer that shows the violation is printed at the end.
//
// The recorded lines are those of this program, which has all text of the target in quotes and secrets as names of
// variables: a result of somebody else gets no scripts. Nothing is sent to an address that is not one of the result's
// own targets.
package script

import (
	_ "embed"
	"errors"
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

// maxScripts bounds how many findings of a result get a script.
const maxScripts = 50

// fileWord is a part of a file's name that means nothing else to any system: the result may come from anywhere.
var fileWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// Path returns the file below the folder of the reports that holds the script of a finding of r; "" where it has none.
func Path(r *reports.Result, f *reports.Finding) string {
	if f.Exchange == 0 && len(f.Exchanges) == 0 || !fileWord.MatchString(f.Requirement) || !fileWord.MatchString(f.ID) {
		return ""
	}
	same := func(other reports.Finding) bool { return other.ID == f.ID && other.Requirement == f.Requirement }
	if !slices.ContainsFunc(r.Findings[:min(len(r.Findings), maxScripts)], same) {
		return ""
	}
	return "scripts/" + f.Requirement + "-" + f.ID + ".sh"
}

// Command runs the script of a finding of r with the secrets of the configuration in its environment; "" where it has
// none. The folder is that of the reports.
func Command(r *reports.Result, f *reports.Finding, folder string) string {
	file := Path(r, f)
	if file == "" {
		return ""
	}
	return exec(r) + " -- bash " + reports.ShellWord(path.Join(folder, file))
}

func exec(r *reports.Result) string { return "agentconform exec" + r.Run.Flags("--config") }

// Write writes the script of a finding of r. The error says why there is none, or is that of w.
func Write(w io.Writer, r *reports.Result, f *reports.Finding) error {
	s := &script{result: r, ids: map[string]*id{}, secrets: map[string]bool{}}
	if err := s.read(f); err != nil {
		return err
	}
	s.findIDs()
	for i, each := range s.steps {
		if err := s.write(i, each); err != nil {
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#!/usr/bin/env bash\n# %s, finding %s: sends the requests that led to it to %s,\n",
		word(f.Requirement), word(f.ID), word(strings.TrimSpace(r.Target.ControlPlane+" "+r.Target.AgentServer)))
	b.WriteString("# and prints the answer that shows it. Secrets come from the environment: the lines with need name " +
		"them.\n# What it creates at the target it does not remove.\n" + prelude)
	fmt.Fprintf(&b, "\nexec=%s\n", safe.ShellWord(safe.Line(exec(r))))
	for _, name := range slices.Sorted(maps.Keys(s.secrets)) {
		fmt.Fprintf(&b, "need %s\n", name)
	}
	fmt.Fprintf(&b, "%s\nwait\nshow %d\n", s.text.String(), s.shows)
	_, err := io.WriteString(w, b.String())
	return err
}

// word is a text in a comment: one line.
func word(s string) string { return safe.Line(safe.Cut(s, 200)) }

// script is what is written for a finding.
type script struct {
	result  *reports.Result
	steps   []*step
	shows   int            // the exchange whose answer is printed
	ids     map[string]*id // those that an answer gave before any request held them, by value
	secrets map[string]bool
	text    strings.Builder
}

// The status in an answer; that of a revision which does not change by itself any more. grep reads them too.
var (
	status  = regexp.MustCompile(`"status" *: *"[^"\\\n]*"`)
	settled = regexp.MustCompile(`"status" *: *"(DEPLOYED|SKIPPED|INTERRUPTED|UNKNOWN|[A-Z_]*FAILED)"`)
)

// step is one request of the script, however often the suite sent it in a row.
type step struct {
	reports.Exchange // with the answer that is waited for
	part             reports.Part
	begin, end       int64 // of the first one and of the last one, in milliseconds
	times            int
	gives, uses      []*id
	background       bool // and not known to be answered
}

// read reads the exchanges of a finding in the order in which they were sent.
func (s *script) read(f *reports.Finding) error {
	links := f.Exchanges
	if len(links) == 0 && f.Exchange > 0 {
		links = []reports.Link{{Exchange: f.Exchange, Part: reports.Observation}}
	}
	if len(links) == 0 {
		return errors.New("the finding names no exchange")
	}
	s.shows = links[len(links)-1].Exchange
	if slices.Contains(links, reports.Link{Exchange: f.Exchange, Part: reports.Observation}) {
		s.shows = f.Exchange
	}
	last := map[string]*step{} // by scenario or fixture
	for _, link := range links {
		x, err := s.result.Exchange(link.Exchange)
		if err != nil {
			return err
		}
		before := last[x.Scenario]
		if before == nil || !before.repeatedBy(x) {
			before = &step{Exchange: x, part: link.Part, begin: x.AtMS}
			last[x.Scenario], s.steps = before, append(s.steps, before)
		} else if before.ID != s.shows {
			before.Exchange, before.part = x, link.Part
		}
		before.end, before.times = x.AtMS+int64(x.MS), before.times+1
	}
	for i, each := range s.steps {
		each.background = each.times == 1 && slices.ContainsFunc(s.steps[i+1:], func(later *step) bool {
			return later.Scenario == each.Scenario && later.begin+1 < each.end
		})
	}
	return nil
}

// repeatedBy tells whether an exchange is the same read again, or what the target had asked to send later.
func (s *step) repeatedBy(x reports.Exchange) bool {
	return s.Method == x.Method && s.URL == x.URL && s.Request.Body == x.Request.Body &&
		fmt.Sprint(s.Request.Headers) == fmt.Sprint(x.Request.Headers) &&
		(x.Method == "GET" || s.Status == 409 || s.Status == 429 || s.Status == 503)
}

// write writes a step: what it waits for, the ids that it needs, and its request.
func (s *script) write(i int, each *step) error {
	arguments, err := s.request(each)
	if err != nil {
		return err
	}
	fmt.Fprintf(&s.text, "\n# exchange %d, %s\n", each.ID, word(string(each.part)))
	for _, before := range s.steps[:i] {
		gives := slices.ContainsFunc(each.uses, func(v *id) bool { return v.from == before })
		if before.background && (gives || before.end <= each.begin+1) {
			before.background = false
			fmt.Fprintf(&s.text, "wait \"$sent%d\"\n", before.ID)
		}
	}
	for _, v := range each.uses {
		if !v.taken {
			v.taken = true
			fmt.Fprintf(&s.text, "take %s %d %s %d\n", v.name, v.from.ID, v.key, v.nth)
		}
	}
	switch conditions := s.conditions(each); {
	case each.background:
		fmt.Fprintf(&s.text, "send %d %s &\nsent%d=$!\n", each.ID, arguments, each.ID)
	case conditions != "":
		fmt.Fprintf(&s.text, "again %s -- %s\n", conditions, arguments)
	default:
		fmt.Fprintf(&s.text, "send %d %s\n", each.ID, arguments)
	}
	return nil
}

// conditions say for how many seconds a request is repeated, and what the answer has to be like before the script
// goes on; "" where it is sent once.
func (s *script) conditions(each *step) string {
	shows := each.ID == s.shows
	once := each.Method != "GET" || each.part != reports.SetUp && !shows && len(each.gives) == 0
	if once && each.times == 1 || each.Status == 0 {
		return ""
	}
	patience := 5 + 2*(each.end-each.begin)/1000
	if each.part == reports.SetUp {
		patience = max(patience, 90)
	}
	pattern := ""
	if found := status.FindString(each.Response.Body); shows {
		pattern = regexp.QuoteMeta(found)
	} else if settled.MatchString(found) { // which of these an earlier revision gets depends on how soon the next one came
		pattern = settled.String()
	}
	all := fmt.Sprintf("%d %d %d %s", patience, each.ID, each.Status, safe.ShellWord(pattern))
	for _, v := range each.gives {
		all += fmt.Sprintf(" %s:%d", v.key, v.nth)
	}
	return all
}
