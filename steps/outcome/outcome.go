// Package outcome says how a step of a scenario ended when it did not just pass: it observed a violation, it was
// blocked, it saw nothing that could have shown a violation, or it was skipped. Each outcome carries a reason for
// people and its cause as data; nothing decides anything by the text of a reason.
//
// It knows neither Gherkin nor the two halves of the interface.
package outcome

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
)

// Outcome is what a step returns when it did not just pass. It is an error.
type Outcome struct {
	Verdict reports.Verdict
	Reason  string // for people
	Skip    *reports.Skip
	// BlockedBy is what kept the step from judging. On a violation it says what blocks those for whom that is a
	// precondition.
	BlockedBy []reports.Blocker
	// Violations are what the step observed: of what is blocked, those of the requirements that block it.
	Violations []Violation
}

// Violation is one thing that a step observed to be the opposite of what its sentence says.
type Violation struct {
	Kind      Kind
	Class     string // of the input, if a judgement distinguishes several: "out of range"
	Summary   string // the mistake in a sentence about the server: "limit=101 is accepted"; the step's sentence by default
	Expected  string // in one line: "422, with an error that names limit"
	Actual    string // the same of what the server returned
	Hint      string
	Operation string
	Pointer   string
	Exchange  int
	Compared  Comparison
	Count     int
	Words     []string // neutral words on which it may depend, where the whole record is judged

	answer *exchange.Response // the evidence
}

// Comparison names the exchanges of which a violation compares the answers, where the expected value came from another
// one; 0 where it did not.
type Comparison struct {
	Shown int
	With  int
}

func (o *Outcome) Error() string { return o.Reason }

// Fails returns the outcome of a violation. a is the evidence, or nil if there was no response. If v has no Actual, the
// response is described.
func Fails(a *exchange.Response, v Violation) *Outcome {
	v.answer = a
	v.Count = max(v.Count, 1)
	if a != nil {
		v.Exchange = a.ID
		if v.Actual == "" {
			v.Actual = seenAt(a, v.Pointer)
		}
	}
	v.Expected = safe.Prefix(v.Expected, 2*maxText)
	v.Actual = safe.Prefix(strings.TrimRight(v.Actual, "\n"), 2*maxText)
	return (&Outcome{Verdict: reports.Failed, Violations: []Violation{v}}).withReason()
}

// PointerOf returns the JSON pointer for a GJSON path of plain names.
func PointerOf(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }

// withReason tells of the violation in a sentence.
func (o *Outcome) withReason() *Outcome {
	v := o.Violations[0]
	expected, actual := CutAround(v.Expected, v.Actual)
	o.Reason = "expected " + expected + ", got " + firstLine(actual)
	if v.Summary != "" {
		o.Reason = v.Summary + ": " + o.Reason
	}
	return o
}

// Comparing says that the answer shown was held against another one, mostly an earlier one, from which the expected
// value came. Either may be nil where it is not known.
func (o *Outcome) Comparing(shown, with *exchange.Response) *Outcome {
	if shown != nil && with != nil {
		o.Violations[0].Compared = Comparison{shown.ID, with.ID}
	}
	return o
}

// Hinting adds what to do about it.
func (o *Outcome) Hinting(hint string) *Outcome {
	o.Violations[0].Hint = hint
	return o
}

// FirstOf judges several things that show the same fault. It returns the first violation, with the number of all, or nil.
func FirstOf[T any](all []T, judge func(T) error) error {
	var first error
	count := 0
	for _, one := range all {
		err := judge(one)
		if err == nil {
			continue
		}
		count++
		if first == nil {
			first = err
		}
	}
	if o, is := errors.AsType[*Outcome](first); is && len(o.Violations) > 0 {
		o.Violations[0].Count = count
	}
	return first
}

// All says what several violations show, each another fault; nothing where there is none.
func All(found []Violation) error {
	if len(found) == 0 {
		return nil
	}
	var reasons []string
	for _, v := range found {
		reasons = append(reasons, v.Summary)
	}
	slices.Sort(reasons)
	return &Outcome{Verdict: reports.Failed, Reason: strings.Join(slices.Compact(reasons), "; "), Violations: found}
}

// Blocked says that a precondition could not be brought about.
func Blocked(cause string, args ...any) *Outcome {
	return &Outcome{Verdict: reports.Blocked, Reason: fmt.Sprintf(cause, shortened(args)...)}
}

// Inconclusive says that nothing was observed that could have shown a violation.
func Inconclusive(reason string, args ...any) *Outcome {
	return &Outcome{Verdict: reports.Inconclusive, Reason: fmt.Sprintf(reason, shortened(args)...)}
}

// SuiteError says that the suite itself is wrong: nothing was learned about the target.
func SuiteError(reason string, args ...any) *Outcome {
	return Inconclusive("the suite itself failed here, please report it: "+reason, args...).By(reports.BySuite, "error")
}

// By adds what kept the step from judging.
func (o *Outcome) By(kind reports.BlockerKind, names ...string) *Outcome {
	for _, name := range names {
		o.BlockedBy = append(o.BlockedBy, reports.Blocker{Kind: kind, Name: name})
	}
	return o
}

// IsBy tells whether a blocker of the kind kept the step from judging.
func (o *Outcome) IsBy(kind reports.BlockerKind) bool {
	return slices.ContainsFunc(o.BlockedBy, func(b reports.Blocker) bool { return b.Kind == kind })
}

// ByRequirement names the requirements that own the behaviour which kept the step from judging: they fail by
// themselves.
func (o *Outcome) ByRequirement(ids ...string) *Outcome { return o.By(reports.ByRequirement, ids...) }

// Inapplicable says that the scenario is about something that this target rightly does not have. It is the only skip
// that leaves a run whole. The key is that of the configuration which tells, or a name for what the target lacks.
func Inapplicable(key, reason string, args ...any) *Outcome {
	return Skipped(reports.NotApplicable, key, "not applicable: "+reason, args...)
}

// Needs skips the scenario because a key of the configuration is missing. An explanation, with the mark before it, may
// follow the key in the reason.
func Needs(key string, explanation ...string) *Outcome {
	return Skipped(reports.NotConfigured, key, "not configured: set %s%s", key, strings.Join(explanation, ""))
}

// NotConfigured skips the scenario because a key of the configuration is missing, which only the run has found out.
func NotConfigured(key, reason string, args ...any) *Outcome {
	return Skipped(reports.NotConfigured, key, reason, args...)
}

// OverBudget skips the scenario because the budget under the key, which is so many, is used up.
func OverBudget(key string, most int) *Outcome {
	return Skipped(reports.OverBudget, key, "the budget is used up: raise %s (now %d)", key, most)
}

// ReadOnly skips the scenario because it would write to the target, and the run only reads.
func ReadOnly(explanation ...string) *Outcome {
	return Skipped(reports.NotSelected, "--read-only", "not selected: --read-only writes nothing to the target%s",
		strings.Join(explanation, ""))
}

// Skipped skips the scenario for a cause of the kind. The key is that of the configuration or of the command.
func Skipped(kind reports.SkipKind, key, reason string, args ...any) *Outcome {
	return &Outcome{Verdict: reports.Skipped, Reason: fmt.Sprintf(reason, shortened(args)...),
		Skip: &reports.Skip{Kind: kind, Key: key}}
}

// Is tells whether an error holds an outcome with the verdict.
func Is(err error, verdict reports.Verdict) bool {
	var o *Outcome
	return errors.As(err, &o) && o.Verdict == verdict
}
