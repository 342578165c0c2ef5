package script

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// How long a read is repeated, in seconds: to bring about a precondition, where the suite repeated it, and to see the violation.
const (
	patient   = 90
	repeating = 30
	brief     = 5
)

// Pauses between two requests are kept within these bounds: shorter ones are the machine's, longer ones mean something else.
const (
	minPause = 150 * time.Millisecond
	maxPause = 15 * time.Second
)

// step is one request of the script, however often the suite sent it in a row.
type step struct {
	part       reports.Part
	wanted     reports.Exchange // with the answer that is waited for
	begin, end int64            // of the first one and of the last one, in milliseconds
	times      int
	patience   int
	background bool
	over       bool          // was waited for
	after      []int         // exchanges in the background that were answered before this one was sent
	pause      time.Duration // before it
}

// plan is what the script of a finding does.
type plan struct {
	result    *reports.Result
	steps     []*step
	shows     int // the exchange whose answer is printed
	pointer   string
	variables *variables
}

func newPlan(r *reports.Result, f *reports.Finding) (*plan, error) {
	links := f.Exchanges
	if len(links) == 0 && f.Exchange > 0 {
		links = []reports.Link{{Exchange: f.Exchange, Part: reports.Observation}}
	}
	if len(links) == 0 || r.Exchanges == nil {
		return nil, errNone
	}
	p := &plan{result: r, pointer: f.Pointer, shows: links[len(links)-1].Exchange}
	if slices.Contains(links, reports.Link{Exchange: f.Exchange, Part: reports.Observation}) {
		p.shows = f.Exchange
	}
	for _, link := range links {
		x, err := r.Exchanges.Get(link.Exchange)
		if err != nil {
			return nil, err
		}
		p.add(x, link.Part)
	}
	owner := p.stepOf(p.shows).wanted.Scenario
	p.order(owner)
	p.variables = variablesOf(p)
	p.prune(owner)
	p.time()
	return p, nil
}

// add adds an exchange: to the step before it of the same scenario or fixture where it only repeats that.
func (p *plan) add(x reports.Exchange, part reports.Part) {
	began, ended := x.AtMS, x.AtMS+int64(x.MS)
	for _, s := range slices.Backward(p.steps) {
		if s.wanted.Scenario != x.Scenario {
			continue
		}
		if repeats(s.wanted, x) {
			if s.wanted.ID != p.shows {
				s.wanted, s.part = x, part
			}
			s.end, s.times = ended, s.times+1
			return
		}
		break
	}
	p.steps = append(p.steps, &step{part: part, wanted: x, begin: began, end: ended, times: 1})
}

// repeats tells whether an exchange is the one before it again: a read, or what the target had asked to send later.
func repeats(before, x reports.Exchange) bool {
	same := before.Method == x.Method && before.URL == x.URL && before.Request.Body == x.Request.Body && fmt.Sprint(before.Request.Headers) == fmt.Sprint(x.Request.Headers)
	return same && (x.Method == "GET" || before.Status == 409 || before.Status == 429 || before.Status == 503)
}

// order puts fixtures before what uses them: what is used was complete before the last exchange of what uses it.
func (p *plan) order(owner string) {
	last := map[string]int{} // places in the chain, which is in the order of sending: times of one millisecond can be equal
	for i, s := range p.steps {
		last[s.wanted.Scenario] = i
	}
	slices.SortStableFunc(p.steps, func(a, b *step) int {
		x, y := a.wanted.Scenario, b.wanted.Scenario
		switch {
		case x == y:
			return 0
		case x == owner:
			return 1
		case y == owner:
			return -1
		}
		return cmp.Compare(last[x], last[y])
	})
}

// prune leaves out what other scenarios needed of the fixtures: requests about nothing that the rest is about.
func (p *plan) prune(owner string) {
	needed, about := map[*step]bool{}, map[*variable]bool{}
	for changed := true; changed; {
		changed = false
		for _, s := range p.steps {
			used := p.variables.usedBy(s)
			relevant := s.wanted.Scenario == owner || slices.ContainsFunc(used, func(v *variable) bool { return about[v] }) ||
				slices.ContainsFunc(p.variables.all, func(v *variable) bool { return about[v] && v.from == s.wanted.ID })
			if !relevant || needed[s] {
				continue
			}
			needed[s], changed = true, true
			for _, v := range used {
				about[v] = true
			}
		}
	}
	p.steps = slices.DeleteFunc(p.steps, func(s *step) bool { return !needed[s] })
}

// time says which requests overlapped, and which pauses were made on purpose: those in which nothing else of the chain
// happened.
func (p *plan) time() {
	for i, s := range p.steps {
		s.patience = repeating
		if s.part == reports.SetUp {
			s.patience = max(patient, int(2*(s.end-s.begin)/1000))
		}
		if s.wanted.ID == p.shows && s.times == 1 {
			s.patience = brief
		}
		quiet := int64(-1)
		for j, other := range p.steps {
			if other == s || other.wanted.Scenario != s.wanted.Scenario {
				continue
			}
			if j > i && s.times == 1 && other.begin+1 < s.end {
				s.background = true
			}
			if j < i && other.background && !other.over && other.end <= s.begin+1 {
				other.over, s.after = true, append(s.after, other.wanted.ID)
			}
			if j < i {
				quiet = max(quiet, other.end)
			}
		}
		gap := time.Duration(s.begin-quiet) * time.Millisecond
		if quiet >= 0 && gap >= minPause && gap <= maxPause && !p.busy(s, quiet) {
			s.pause = gap
		}
	}
}

// busy tells whether another scenario or fixture of the chain did something in the time before a step.
func (p *plan) busy(s *step, since int64) bool {
	return slices.ContainsFunc(p.steps, func(other *step) bool {
		return other.wanted.Scenario != s.wanted.Scenario && other.end > since && other.begin < s.begin
	})
}

// stepOf finds the step that sends an exchange, or nil.
func (p *plan) stepOf(id int) *step {
	for _, s := range p.steps {
		if s.wanted.ID == id {
			return s
		}
	}
	return nil
}

// settled are the statuses of a revision that does not change by itself any more. Which of them an earlier revision gets
// depends on how soon the next one came.
var settled = regexp.MustCompile(`^(DEPLOYED|SKIPPED|INTERRUPTED|UNKNOWN|[A-Z_]*FAILED)$`)

// passing are the other statuses of a revision: it may have left them before it is read.
var passing = regexp.MustCompile(`^[A-Z_]+$`)

// statusOf waits for a status as it was recorded. Of a revision whose status does not show the violation it waits for any that
// is final, and for none where the recorded one was not.
func statusOf(status string, shows bool) (conditions []string) {
	switch {
	case !shows && settled.MatchString(status):
		return []string{"settled"}
	case !shows && passing.MatchString(status):
		return nil
	}
	return []string{quote("value:status:1:" + status)}
}

// conditions say what the answer to a read has to be like before the script goes on; "" where it is read once.
func (p *plan) conditions(s *step) string {
	x := s.wanted
	shows := x.ID == p.shows
	fresh := p.variables.takenFrom(x.ID)
	if x.Method != "GET" && s.times == 1 || s.part != reports.SetUp && s.times == 1 && !shows && len(fresh) == 0 || x.Status == 0 {
		return ""
	}
	all := []string{fmt.Sprintf("status:%d", x.Status)}
	for _, v := range fresh {
		all = append(all, fmt.Sprintf("new:%s:%d", v.key, v.nth))
	}
	found := pairsOf(x.Response.Body)
	if at := slices.IndexFunc(found, func(o pair) bool { return o.key == "status" }); at >= 0 {
		all = append(all, statusOf(found[at].value, shows)...)
	}
	counted := []string{"content"}
	if s.times > 1 || len(fresh) > 0 || shows { // else others may have added to a list
		counted = append(counted, "id", "thread_id")
	}
	for _, key := range counted {
		n := 0
		for _, o := range found {
			if o.key == key {
				n = max(n, o.nth)
			}
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("count:%s:%d", key, n))
		}
	}
	return strings.Join(all, " ")
}
