// Package invariants judges rules about every recorded exchange of a test run: a response has the ID of its request,
// nobody is served without credentials, valid requests are not refused, and so on. It runs in the last phase, after all
// scenarios that send requests, and sends no requests itself.
//
// Start with [Record]. newRules in rules.go has all invariants, by their steps in the features. Each reads the record
// twice. First, note reads every exchange and collects facts, for example what belongs to which user. Then check judges
// every exchange.
//
// An invariant finds violations that no scenario looks for. If a requirement that covers the same mistake has failed, the
// invariant is not applicable. So each mistake of the server is one finding, and one entry in a baseline covers it.
// Responses with a status of 500 or above are not judged here, because the requirements about server errors judge them.
package invariants

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// Record is the record of a test run. All invariants judge it together, once.
type Record struct {
	target *target.Target
	others func() []Other
	rules  map[string]*invariant // by step
	judge  func()
}

// Other is the outcome of a scenario that sends requests.
type Other struct {
	Requirement *features.Requirement
	Outcome     *outcome.Outcome
}

// NewRecord returns the record of a test run. others returns the outcomes of all scenarios that send requests.
func NewRecord(t *target.Target, others func() []Other) *Record {
	r := &Record{target: t, others: others}
	r.rules = r.newRules()
	r.judge = sync.OnceFunc(r.read)
	return r
}

// Define registers the steps of the invariants for one scenario.
func (r *Record) Define(d *common.Definitions) {
	d.When(`all exchanges of the test run are read`, func() error { return nil })
	for step := range r.rules {
		d.Then(step, func() error {
			judged, err := r.outcome(step)
			if err != nil {
				return err
			}
			if judged == 0 {
				return outcome.LacksEvidence(r.rules[step].shownBy(), noEvidence)
			}
			return nil
		})
	}
}

const noEvidence = "no response in this test run could have shown a violation"

// read passes the record to all invariants. The invariants of the two halves share nothing.
func (r *Record) read() {
	all := r.target.Collector.Observations()
	var halves sync.WaitGroup
	for _, side := range spec.Sides() {
		halves.Go(func() { r.readHalf(side, all) })
	}
	halves.Wait()
	for _, rule := range r.rules {
		if rule.end != nil {
			rule.end(&rule.tally)
		}
	}
	for _, rule := range r.rules { // the collected facts are not needed any more, and may be large for a recording
		rule.note, rule.check, rule.end = nil, nil, nil
	}
}

func (r *Record) readHalf(side spec.Side, all []*evidence.Observation) {
	var exchanges []*seen
	for _, o := range all {
		if o.Side == side {
			exchanges = append(exchanges, &seen{Observation: o, request: valueOf(o.Request), response: valueOf(o.Response)})
		}
	}
	for _, checks := range []bool{false, true} {
		for _, s := range exchanges {
			for _, rule := range r.rules {
				if rule.side == side {
					rule.read(s, checks)
				}
			}
		}
	}
}

// read notes an exchange, or checks it.
func (i *invariant) read(s *seen, checks bool) {
	if !checks {
		if i.note != nil {
			i.note(s)
		}
		return
	}
	if i.check != nil && !s.Past && s.HasAnswer() && s.Status < http.StatusInternalServerError {
		i.check(&i.tally, s)
	}
}

// outcome returns the number of exchanges that an invariant judged, and its outcome. It removes violations that the
// failure of another requirement shows. The failure of a SHOULD removes no violation of a MUST. If no exchange could have
// shown a violation, and a requirement that covers the invariant is blocked or has failed, the invariant is blocked.
func (r *Record) outcome(step string) (judged int, verdict error) {
	r.judge()
	rule := r.rules[step]
	judged = rule.judged
	found := rule.found
	if len(found) == 0 {
		found = rule.doubtful
	}
	if len(found) == 0 && judged > 0 {
		return judged, nil
	}
	var owners []string // requirements whose failures show the violations
	for _, o := range r.others() {
		if o.Outcome.Verdict == reports.Blocked && judged == 0 && rule.isCoveredBy(o.Requirement.ID) {
			return 0, &outcome.Outcome{Verdict: reports.Blocked, Reason: o.Outcome.Reason, BlockedBy: o.Outcome.BlockedBy}
		}
		remaining, isOwner := rule.withoutShown(found, o)
		if isOwner {
			owners = append(owners, o.Requirement.ID)
			found = remaining
		}
	}
	if len(found) > 0 && len(rule.found) > 0 {
		return judged, outcome.All(found)
	}
	if len(owners) == 0 {
		return judged, nil
	}
	owners = slices.Compact(slices.Sorted(slices.Values(owners)))
	names := strings.Join(owners, ", ")
	if judged == 0 {
		return 0, outcome.Blocked("%s: %s failed", noEvidence, names).ByRequirement(owners...)
	}
	covered := outcome.Inapplicable(owners[0], "covered by %s, which failed", names)
	covered.Violations = slices.Concat(rule.found, rule.doubtful)
	return judged, covered
}

// withoutShown returns the violations that the outcome of another scenario does not show. It also reports whether the other
// requirement owns violations: it has failed, and it covers the whole invariant or shows one of them.
func (i *invariant) withoutShown(found []outcome.Violation, o Other) (remaining []outcome.Violation, isOwner bool) {
	if o.Outcome.Verdict != reports.Failed || o.Requirement.Level != reports.Must && !i.advisory {
		return found, false
	}
	if i.shows == nil && i.isCoveredBy(o.Requirement.ID) {
		return nil, true
	}
	for _, v := range found {
		if !i.isShownBy(o, v) {
			remaining = append(remaining, v)
		}
	}
	return remaining, len(remaining) < len(found)
}

// shows reports whether the failure has a violation at the pointer of v in the same exchange.
func (o Other) shows(v outcome.Violation) bool {
	if v.Exchange == 0 {
		return false
	}
	return slices.ContainsFunc(o.Outcome.Violations, func(f outcome.Violation) bool {
		isSameExchange := slices.Contains([]int{f.Exchange, f.Compared.Shown, f.Compared.With}, v.Exchange)
		return isSameExchange && (f.Pointer == v.Pointer || f.Pointer == "" || v.Pointer == "")
	})
}

// showsAll reports whether a failure shows all exchanges of a violation.
func (o Other) showsAll(v outcome.Violation) bool {
	var shown []int
	for _, f := range o.Outcome.Violations {
		shown = append(shown, f.Shows()...)
	}
	return !slices.ContainsFunc(v.Shows(), func(id int) bool { return !slices.Contains(shown, id) })
}

// tally counts the exchanges that an invariant has judged, and keeps the first violation of each operation, kind and
// pointer.
type tally struct {
	judged int
	found  []outcome.Violation
	// doubtful has exchanges that a conforming server may also produce. They are only evidence for a failure that covers
	// the invariant.
	doubtful []outcome.Violation
}

// violated records a violation. It returns the recorded violation of the same operation, kind and pointer, with its
// count.
func (t *tally) violated(s *seen, kind outcome.Kind, pointer, summary, expected, actual string) *outcome.Violation {
	for i := range t.found {
		v := &t.found[i]
		if v.Operation == s.Op.ID && v.Kind == kind && v.Pointer == pointer {
			v.Count++
			v.Repeats = append(v.Repeats, s.ID)
			return v
		}
	}
	t.found = append(t.found, outcome.Violation{Kind: kind, Summary: summary, Expected: expected, Actual: actual,
		Operation: s.Op.ID, Pointer: pointer, Exchange: s.ID, Count: 1})
	return &t.found[len(t.found)-1]
}

// seen is an exchange with its bodies as JSON values. If a body is not JSON or was cut, its value does not exist.
type seen struct {
	*evidence.Observation
	request, response gjson.Result
}

// valueOf returns the JSON value of a recorded body.
func valueOf(body string) gjson.Result {
	if !exchange.IsJSON([]byte(body)) {
		return gjson.Result{}
	}
	return gjson.Parse(body)
}

func (s *seen) ok() bool { return s.Status/100 == 2 }

// shows reports whether the response is 2xx and its whole body was recorded, so that a field that is missing in the body
// is missing in the object.
func (s *seen) shows() bool { return s.ok() && s.Whole }

// ofInterface reports whether the request is for an operation of the interface.
func (s *seen) ofInterface() bool { return s.Op.ID != "" && !s.Op.Field }

// isUser reports whether a user of the configuration sent the request.
func (s *seen) isUser() bool { return strings.HasPrefix(s.Caller.Name, "users.") }

// effect describes requests that must have an effect if they return 2xx. Scenarios that do not see the effect record a
// violation. They are blocked by the requirement that owns the effect.
type effect struct {
	side      spec.Side
	operation string
	path      string // path of a field; if set, only requests with a string in that field count
	owner     string // the requirement that owns the effect
	kind      outcome.Kind
	summary   string
	word      string // a neutral word on which the violation depends, or ""
}

// ruleOf returns the invariant that collects the violations of an effect from the scenarios that it blocks.
func (r *Record) ruleOf(e effect) *invariant {
	count := 0
	note := func(s *seen) {
		isMeant := e.path == "" || s.request.Get(e.path).Type == gjson.String
		if s.Op.ID == e.operation && s.ok() && !s.Wrong && isMeant {
			count++
		}
	}
	end := func(t *tally) {
		if r.target.Recorded { // it is unknown how long other clients waited
			return
		}
		t.judged = count
		for _, o := range r.others() {
			if slices.Contains(o.Outcome.BlockedBy, reports.Blocker{Kind: reports.ByRequirement, Name: e.owner}) {
				t.found = append(t.found, e.newViolations(t.found, o.Outcome.Violations)...)
			}
		}
	}
	return &invariant{side: e.side, note: note, end: end, coveredBy: e.owner}
}

// newViolations returns the violations of exchanges that are not among the known ones.
func (e effect) newViolations(known, found []outcome.Violation) []outcome.Violation {
	isKnown := map[int]bool{}
	for _, v := range known {
		isKnown[v.Exchange] = true
	}
	var added []outcome.Violation
	for _, v := range found {
		if isKnown[v.Exchange] {
			continue
		}
		isKnown[v.Exchange] = true
		v.Kind = e.kind
		v.Class = ""
		v.Summary = e.summary
		v.Words = nil
		if e.word != "" {
			v.Words = []string{e.word}
		}
		added = append(added, v)
	}
	return added
}
