package script

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/reports"
)

// step is one request of the script. The suite may have sent it several times in a row.
type step struct {
	reports.Exchange // the exchange whose response the script waits for
	part             reports.Part
	begin, end       int64 // times of the first and of the last exchange, in milliseconds
	number           int   // from 1
	times            int   // number of times that the suite sent it
	tolerated        bool  // the suite got the same status before, and repeated the request
	gives, uses      []*id
	background       bool           // it is sent in the background
	waits            bool           // the script did not wait for it yet
	over             bool           // the script has waited for the end of the run that the step started
	check            *reports.Check // only in the step of the check, which is not sent
}

// readSteps reads the exchanges of a finding in the order in which they were sent.
func (s *script) readSteps(f *reports.Finding) error {
	links := f.Links()
	if len(links) == 0 {
		return errors.New("the finding has no exchange")
	}
	s.shown = links[len(links)-1].Exchange
	if slices.Contains(links, reports.Link{Exchange: f.Exchange, Part: reports.Observation}) {
		s.shown = f.Exchange
	}
	s.decides = s.canDecide(f)
	last := map[string]*step{} // by scenario or fixture
	for _, link := range links {
		x, err := s.result.Exchange(link.Exchange)
		if err != nil {
			return err
		}
		current := last[x.Scenario]
		if current == nil || !current.repeats(x) {
			current = &step{Exchange: x, part: link.Part, begin: x.AtMS, number: len(s.steps) + 1}
			last[x.Scenario] = current
			s.steps = append(s.steps, current)
		} else if current.ID != s.shown {
			current.tolerated = current.Status == x.Status
			current.Exchange, current.part = x, link.Part
		}
		current.end = x.AtMS + int64(x.MS)
		current.times++
	}
	for i, each := range s.steps {
		overlaps := func(later *step) bool { return later.Scenario == each.Scenario && later.begin+1 < each.end }
		each.background = each.times == 1 && slices.ContainsFunc(s.steps[i+1:], overlaps)
		each.waits = each.background
	}
	return nil
}

// step returns the step of an exchange. There is one for the exchange that is shown.
func (s *script) step(exchange int) *step {
	return s.steps[slices.IndexFunc(s.steps, func(x *step) bool { return x.ID == exchange })]
}

// seconds returns the number of seconds for which the script repeats a request.
func (s *step) seconds() int64 { return 5 + 2*(s.end-s.begin)/1000 }

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
