package script

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/reports"
)

// step is one request of the script. The suite may have sent it several times in a row.
type step struct {
	reports.Exchange // the one whose response the script waits for
	part             reports.Part
	begin, end       int64 // of the first and of the last exchange, in milliseconds
	times            int   // how often the suite sent it
	gives, uses      []*id
	background       bool // it is sent in the background, and the script did not wait for it yet
}

// readSteps reads the exchanges of a finding in the order in which they were sent.
func (s *script) readSteps(f *reports.Finding) error {
	links := f.Exchanges
	if len(links) == 0 && f.Exchange > 0 {
		links = []reports.Link{{Exchange: f.Exchange, Part: reports.Observation}}
	}
	if len(links) == 0 {
		return errors.New("the finding has no exchange")
	}
	s.shown = links[len(links)-1].Exchange
	if slices.Contains(links, reports.Link{Exchange: f.Exchange, Part: reports.Observation}) {
		s.shown = f.Exchange
	}
	last := map[string]*step{} // by scenario or fixture
	for _, link := range links {
		x, err := s.result.Exchange(link.Exchange)
		if err != nil {
			return err
		}
		current := last[x.Scenario]
		if current == nil || !current.repeats(x) {
			current = &step{Exchange: x, part: link.Part, begin: x.AtMS}
			last[x.Scenario] = current
			s.steps = append(s.steps, current)
		} else if current.ID != s.shown {
			current.Exchange, current.part = x, link.Part
		}
		current.end = x.AtMS + int64(x.MS)
		current.times++
	}
	for i, each := range s.steps {
		overlaps := func(later *step) bool { return later.Scenario == each.Scenario && later.begin+1 < each.end }
		each.background = each.times == 1 && slices.ContainsFunc(s.steps[i+1:], overlaps)
	}
	return nil
}

// repeats reports whether an exchange is the same read again, or the same write after a response that asked for a retry.
func (s *step) repeats(x reports.Exchange) bool {
	same := s.Method == x.Method && s.URL == x.URL && s.Request.Body == x.Request.Body &&
		fmt.Sprint(s.Request.Headers) == fmt.Sprint(x.Request.Headers)
	return same && (x.Method == "GET" || s.Status == 409 || s.Status == 429 || s.Status == 503)
}

// isRepeated reports whether the script repeats the request: if the suite did, or if later requests depend on a read.
// shown is the exchange whose response is printed.
func (s *step) isRepeated(shown int) bool {
	if s.times > 1 {
		return true
	}
	return s.Method == "GET" && (s.part == reports.SetUp || s.ID == shown || len(s.gives) > 0)
}
