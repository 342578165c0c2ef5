package resume

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Bounds of a journal.
const (
	maxFile      = 4 << 30
	maxLine      = 32 << 20
	maxText      = 128 << 10 // of a text that quotes the target
	maxName      = 1 << 10
	maxList      = 1000
	maxElements  = 100_000 // of all lists in a line
	maxExchanges = 1_000_000
	maxParts     = 1000
	maxTime      = 366 * 24 * time.Hour
)

// runIDs are those of runs: they are in the names of what is created.
var runIDs = regexp.MustCompile(`^[0-9a-f]{8}$`)

// methods are those of requests: they stand in curl lines.
var methods = regexp.MustCompile(`^[A-Z]{1,20}$`)

// checker holds the lines of a journal to what a run can have written.
type checker struct {
	broken    *Broken
	scenarios map[string]*features.Scenario // by key
	digest    string                        // of the catalogue
	part      int
}

func newChecker(c *features.Catalogue) *checker {
	b := &Broken{Ended: map[string]Scenario{}, parts: map[string]int{}}
	k := &checker{broken: b, scenarios: map[string]*features.Scenario{}, digest: c.Digest(), part: 1}
	for _, s := range c.Scenarios() {
		k.scenarios[s.Key()] = s
		b.scenarios = append(b.scenarios, s.Key()+" "+s.Name)
	}
	slices.Sort(b.scenarios)
	return k
}

// isScenario tells whether exchanges under the name are those of a scenario.
func (b *Broken) isScenario(name string) bool {
	_, found := slices.BinarySearch(b.scenarios, name)
	return found
}

// line says what is wrong with a line.
func (k *checker) line(number int, l *line) error {
	members := 0
	for _, is := range []bool{l.Run != nil, l.Exchange != nil, l.Scenario != nil, l.Status != nil, l.Resumed != nil} {
		if is {
			members++
		}
	}
	switch {
	case members != 1:
		return errors.New("it is not a line of a journal")
	case (number == 1) != (l.Run != nil):
		return errors.New("a journal begins with the line of its run, and has one")
	case l.Run != nil:
		return k.header(l.Run)
	case l.Exchange != nil:
		return k.exchange(l.Exchange)
	case l.Scenario != nil && k.scenarios[l.Scenario.Key] == nil:
		// Of another version, which Check tells more plainly.
		if k.foreign() {
			return nil
		}
		return fmt.Errorf("there is no scenario %.100q", l.Scenario.Key)
	case l.Scenario != nil:
		return k.scenario(l.Scenario)
	case l.Status != nil:
		return first(tooLong(maxName, l.Status.Revision, l.Status.Status), times(time.Duration(l.Status.AtMS)*time.Millisecond), enough(len(k.broken.Timeline), maxExchanges))
	}
	return first(enough(k.part, maxParts), possible(l.Resumed.BrokenAt, l.Resumed.ResumedAt))
}

// foreign tells whether the journal is of other requirements than those of the catalogue.
func (k *checker) foreign() bool { return k.broken.Digest != k.digest }

// take notes what a line says.
func (k *checker) take(l *line) {
	b := k.broken
	switch {
	case l.Run != nil:
		b.Header = *l.Run
	case l.Exchange != nil:
		b.exchanges++
		b.lasts(time.Duration(l.Exchange.SentNS) + time.Duration(l.Exchange.Exchange.MS*float64(time.Millisecond)))
	case l.Scenario != nil && k.scenarios[l.Scenario.Key] != nil:
		s := *l.Scenario
		for i := range s.Fixtures {
			s.Fixtures[i] = ofPart(s.Fixtures[i], k.part)
		}
		b.Ended[s.Key] = s
		b.parts[s.Key+" "+k.scenarios[s.Key].Name] = k.part
		b.Learned = s.Learned
		b.lasts(s.At)
	case l.Status != nil:
		b.Timeline = append(b.Timeline, *l.Status)
		b.lasts(time.Duration(l.Status.AtMS) * time.Millisecond)
	case l.Resumed != nil:
		k.part++
		b.base = b.elapsed
		b.Resumptions = append(b.Resumptions, *l.Resumed)
	}
}

// lasts notes that the run went on at a time.
func (b *Broken) lasts(at time.Duration) { b.elapsed = max(b.elapsed, at) }

func (k *checker) header(h *Header) error {
	switch {
	case h.Schema != Schema:
		return fmt.Errorf("its schema is %.100q, this program reads %q", h.Schema, Schema)
	case !runIDs.MatchString(h.ID):
		return fmt.Errorf("%.100q is not the ID of a run", h.ID)
	case h.Seed <= 0:
		return fmt.Errorf("the seed %d is not above zero", h.Seed)
	case h.StartedAt.Year() < 2000 || h.StartedAt.Year() > 9000:
		return fmt.Errorf("the run cannot have started at %s", h.StartedAt)
	}
	for _, texts := range []map[string]string{h.Configuration, h.Selection} {
		if err := enough(len(texts), maxList); err != nil {
			return err
		}
		for key, value := range texts {
			if err := tooLong(maxText, key, value); err != nil {
				return err
			}
		}
	}
	return tooLong(maxName, h.Version, h.Digest)
}

func (k *checker) exchange(o *evidence.Observed) error {
	x := &o.Exchange
	if x.Status < 0 || x.Status > 999 || x.Status == 0 && x.Error == "" && x.Response.Body != "" {
		return fmt.Errorf("an exchange cannot have the status %d", x.Status)
	}
	if !methods.MatchString(x.Method) {
		return fmt.Errorf("there is no method %.100q", x.Method)
	}
	if !slices.Contains([]spec.Side{spec.ControlPlane, spec.AgentServer}, o.Side) {
		return fmt.Errorf("there is no side %.100q", o.Side)
	}
	if o.Part != "" && !slices.Contains(reports.Parts, o.Part) {
		return fmt.Errorf("there is no part %.100q", o.Part)
	}
	if x.MS < 0 || x.MS > float64(maxTime/time.Millisecond) {
		return fmt.Errorf("an exchange cannot take %g ms", x.MS)
	}
	if strings.HasSuffix(x.Scenario, interrupted) || o.Order < 0 || o.Order > len(k.scenarios)+1 {
		return fmt.Errorf("exchanges cannot be those of %.100q", x.Scenario)
	}
	return first(times(time.Duration(o.SentNS)), tooLong(maxName, x.Scenario), enough(k.broken.exchanges, maxExchanges), enough(len(o.Given), maxList))
}

func (k *checker) scenario(s *Scenario) error {
	_, again := k.broken.Ended[s.Key]
	switch known := k.scenarios[s.Key]; {
	case again:
		return fmt.Errorf("scenario %s ends a second time", s.Key)
	case s.Step < -1 || s.Step >= max(len(known.Steps), 1):
		return fmt.Errorf("scenario %s has no step %d", s.Key, s.Step)
	case s.Step < 0 && s.Outcome != nil && s.Outcome.Verdict != reports.Passed:
		return fmt.Errorf("scenario %s is %s by no step", s.Key, s.Outcome.Verdict)
	case s.Sentence != "" && (s.Step < 0 || s.Sentence != known.Steps[s.Step].Text):
		return fmt.Errorf("scenario %s ends with a sentence that it does not have", s.Key)
	}
	for _, n := range s.Learned.Notes {
		if n.Exchange < 0 || n.Exchange > k.broken.exchanges || n.Count < 0 {
			return fmt.Errorf("the note %.100q names the exchange %d, which was not recorded", n.Kind, n.Exchange)
		}
	}
	l := s.Learned
	if l.Throttled < 0 || l.NotWaited < 0 || l.WaitedMS < 0 {
		return errors.New("a count is below zero")
	}
	return first(times(s.Took), times(s.At), enough(len(s.Fixtures), maxList), enough(len(l.Notes), maxList), tooLong(maxName, s.Fixtures...),
		tooLong(maxText, l.AgentServer), k.outcome(s.Outcome))
}

func (k *checker) outcome(o *outcome.Outcome) error {
	if o == nil {
		return nil
	}
	isOpen := o.Verdict == reports.Blocked || o.Verdict == reports.Inconclusive
	switch {
	case !slices.Contains(reports.Verdicts, o.Verdict):
		return fmt.Errorf("there is no verdict %.100q", o.Verdict)
	case (o.Skip != nil) != (o.Verdict == reports.Skipped), o.Skip != nil && !slices.Contains(reports.SkipKinds, o.Skip.Kind):
		return errors.New("a skip, and nothing else, has one of the kinds of skips")
	case isOpen != (len(o.BlockedBy) > 0) && o.Verdict != reports.Failed:
		return errors.New("what is blocked or inconclusive, and nothing else, says by what")
	case o.Verdict == reports.Failed && len(o.Violations) == 0, o.Verdict != reports.Failed && o.Verdict != reports.Blocked && len(o.Violations) > 0:
		return errors.New("what failed has a violation, and nothing else but what is blocked")
	}
	for _, b := range o.BlockedBy {
		if !slices.Contains(reports.BlockerKinds, b.Kind) || b.Kind == reports.ByRun {
			return fmt.Errorf("a scenario that has ended is not blocked by %.100q", b.Kind)
		}
		if err := tooLong(maxText, b.Name); err != nil {
			return err
		}
	}
	for _, v := range o.Violations {
		for _, id := range []int{v.Exchange, v.Compared.Shown, v.Compared.With} {
			if id < 0 || id > k.broken.exchanges {
				return fmt.Errorf("a violation names the exchange %d, which was not recorded", id)
			}
		}
		if v.Count < 1 {
			return errors.New("a violation is counted at least once")
		}
		if err := tooLong(maxText, v.Summary, v.Expected, v.Actual, v.Hint, v.Operation, v.Pointer, v.Differs, v.Key); err != nil {
			return err
		}
	}
	return first(enough(len(o.Violations), maxList), enough(len(o.BlockedBy), maxList), tooLong(maxText, o.Reason))
}

func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func enough(n, most int) error {
	if n > most {
		return fmt.Errorf("there are more than %d", most)
	}
	return nil
}

func times(d time.Duration) error {
	if d < 0 || d > maxTime {
		return fmt.Errorf("%s is no time of a run", d)
	}
	return nil
}

func possible(all ...time.Time) error {
	for _, t := range all {
		if t.Year() < 2000 || t.Year() > 9000 {
			return fmt.Errorf("%s is no time of a run", t)
		}
	}
	return nil
}

// tooLong allows for what cutting a text adds to it, and for bytes that are no text: each is three bytes in JSON.
func tooLong(most int, texts ...string) error {
	for _, s := range texts {
		if len(s) > 3*most+100 {
			return fmt.Errorf("the text %.40q... is longer than %d bytes", s, most)
		}
	}
	return nil
}
