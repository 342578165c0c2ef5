package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	scripts "github.com/agentconform/agentconform/reports/script"
	"github.com/agentconform/agentconform/reports/story"
)

type problem struct {
	overview.Problem
	Owner   failure // the requirement that owns the behavior
	Total   int     // total number of problems
	Open    bool
	Warning bool      // does not decide the verdict
	Also    string    // readable IDs of the other requirements that it breaks; may be empty
	Broken  []failure // these requirements, except those that an earlier problem also breaks
}

// failure is a requirement that failed, with its findings.
type failure struct {
	*reports.Requirement
	Findings  []finding
	MoreFound int // number of findings that are not shown
}

// finding is a finding with the exchanges that led to it.
type finding struct {
	*reports.Finding
	Request string      // method and path of the exchange that shows it; may be empty
	Sent    string      // body of its request; may be empty
	Compare *comparison // nil if the expected and the actual value are one line each
	Replay  string      // command that judges the finding again
	Removed string      // note about the curl line; may be empty
	Script  string      // path of the script that reproduces the finding; may be empty
	Run     string      // command that runs this script
	Story   story.Story
	Chain   []chainLink
}

// chainLink is one exchange that led to a finding. Evidence is set only for the exchange that shows the violation. The
// script of the page adds the evidence of the others when they are opened.
type chainLink struct {
	Part     reports.Part
	Skipped  int // number of exchanges before it that are not shown
	Line     line
	Evidence *evidence
}

// evidence is an exchange with its bodies.
type evidence struct {
	X                 reports.Exchange
	Request, Response body
	Repeated          string // set if the request was sent twice
}

// problems returns the numbered problems. A requirement that several problems break is listed in the first one only.
func (p *page) problems() (all []problem) {
	shown := map[string]bool{}
	for _, one := range p.Overview.Problems {
		shown[one.Owner.ID] = true
	}
	for _, one := range p.Overview.Problems {
		v := problem{Problem: one, Owner: p.failure(one.Owner, one.Findings, one.Replay), Total: len(p.Overview.Problems),
			Open: one.Number == 1, Warning: p.ClassOf(one.Owner) == overview.Warning, Also: shortIDs(one.Breaks)}
		for _, id := range one.Breaks {
			q := p.Result.Requirement(id)
			if q != nil && !shown[id] {
				shown[id] = true
				v.Broken = append(v.Broken, p.failure(q, p.Overview.Findings[id], ""))
			}
		}
		all = append(all, v)
	}
	return all
}

// shortIDs returns readable IDs. An ID that differs from the previous one only in its number is shortened to the number:
// "AS-ROLLBACK-4, -5, AS-STATE-2".
func shortIDs(ids []string) string {
	family := ""
	var short []string
	for _, id := range ids {
		at := strings.LastIndex(id, "-")
		if at > 0 && id[:at] == family {
			short = append(short, id[at:])
			continue
		}
		if at > 0 {
			family = id[:at]
		}
		short = append(short, id)
	}
	return strings.Join(short, ", ")
}

// maxFindings is the maximum number of findings of a requirement.
const maxFindings = 20

// failure returns a requirement with some of its findings. replay is the command that judges the first of them again. If
// it is empty, the command of the finding is used.
func (p *page) failure(q *reports.Requirement, found []*reports.Finding, replay string) failure {
	v := failure{Requirement: q}
	v.MoreFound = max(len(found)-maxFindings, 0)
	for i, f := range found[:len(found)-v.MoreFound] {
		if i > 0 || replay == "" {
			replay = p.Result.Run.ReplayCommand(f.ID)
		}
		v.Findings = append(v.Findings, p.finding(f, replay))
	}
	return v
}

func (p *page) finding(f *reports.Finding, replay string) finding {
	v := finding{Finding: f, Replay: replay, Removed: p.recorded.CurlNote(f), Script: scripts.Path(p.Result, f),
		Run: scripts.Command(p.Result, f, p.Result.Run.Out()), Story: storyOf(p.recorded, f),
		Chain: p.chain(f)}
	if x, err := p.recorded.Exchange(f.Exchange); err == nil {
		v.Request, v.Sent = safe.Line(x.Method+" "+p.short(x.URL)), safe.Line(overview.Sent(p.recorded, f))
	}
	if f.Expected == "" || f.Actual == "" || f.ExpectedLine() != f.Expected || f.ActualLine() != f.Actual {
		c := compare(f.Expected, f.Actual)
		v.Compare = &c
	}
	return v
}

// storyOf returns the story of a finding. It omits tables without a wrong value.
func storyOf(r *reports.Result, f *reports.Finding) story.Story {
	s := story.Of(r, f)
	if !slices.ContainsFunc(s.Messages, func(m story.Message) bool { return m.Wrong || m.Missing }) {
		s.Messages = nil
	}
	if !slices.ContainsFunc(s.Items, func(i story.Item) bool { return i.Wrong }) {
		s.Items = nil
	}
	if s.Messages == nil && s.Items == nil {
		s.More = 0
	}
	return s
}

// First returns the finding that the problem shows, or nil.
func (v *problem) First() *finding {
	if len(v.Owner.Findings) == 0 {
		return nil
	}
	return &v.Owner.Findings[0]
}

// Others returns the other findings of the requirement.
func (v *failure) Others() []finding {
	if len(v.Findings) == 0 {
		return nil
	}
	return v.Findings[1:]
}

// Maximum number of exchanges in a chain, and how many of them are at its beginning. The others are at its end.
const (
	maxChain   = 30
	chainBegin = 10
)

// chain returns the exchanges that led to a finding. It always contains the exchange that shows it.
func (p *page) chain(f *reports.Finding) (chain []chainLink) {
	links := f.Exchanges
	if !slices.ContainsFunc(links, func(l reports.Link) bool { return l.Exchange == f.Exchange }) {
		links = append(slices.Clone(links), reports.Link{Exchange: f.Exchange, Part: reports.Observation})
	}
	skipped := 0
	for i, l := range links {
		if i >= chainBegin && i < len(links)-maxChain+chainBegin && l.Exchange != f.Exchange {
			skipped++
			continue
		}
		x, err := p.recorded.Exchange(l.Exchange)
		if err != nil {
			continue
		}
		link := chainLink{Part: l.Part, Skipped: skipped, Line: p.line(x)}
		skipped = 0
		if l.Exchange == f.Exchange {
			link.Evidence = evidenceOf(x, f.Pointer)
		}
		chain = append(chain, link)
	}
	return chain
}

// evidenceOf returns the evidence of an exchange, with the value at pointer marked in the response.
func evidenceOf(x reports.Exchange, pointer string) *evidence {
	e := &evidence{Request: newBody(x.Request.Body, ""), Response: newBody(x.Response.Body, pointer)}
	if x.Response.Size > len(x.Response.Body) {
		e.Response.Note = strings.TrimPrefix(fmt.Sprintf("%s; the body has %d bytes", e.Response.Note, x.Response.Size), "; ")
	}
	if x.Repeated {
		e.Repeated = reports.RepeatedNote
	}
	x.Request.Body, x.Response.Body = "", ""
	e.X = scrubbed(x, maxText)
	return e
}
