// Package outcome has the outcomes of steps that did not pass: a violation, blocked, inconclusive, or skipped. Each has a
// reason in words, and its cause as data. Code decides by the cause and never by the text of a reason. Start with
// [Outcome].
//
// The package depends neither on Gherkin nor on the two halves of the interface.
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

// Outcome is the error that a step returns if it did not pass.
type Outcome struct {
	Verdict reports.Verdict
	Reason  string // for people
	Skip    *reports.Skip
	// BlockedBy has the causes that prevented a judgement. In a violation, it has the causes for the steps that the
	// violation blocks.
	BlockedBy []reports.Blocker
	// Violations has the violations that the step observed. In a blocked outcome, they belong to the requirements that
	// block it. In a skipped outcome, they are covered by the failure of the requirement Skip.Key.
	Violations []Violation
	// ShownBy has the IDs and patterns of the requirements whose scenarios could have produced the evidence that an
	// inconclusive outcome lacks.
	ShownBy []string
}

// Violation is one observation that contradicts a step.
type Violation struct {
	Kind      Kind
	Class     string // class of the input, if a judgement distinguishes several: "out of range"
	Summary   string // a sentence about the server: "limit=101 is accepted"; the text of the step if empty
	Expected  string // in one line: "422, with an error that names limit"
	Actual    string // value that the server returned; reports may show only the first line
	Hint      string
	Operation string
	Pointer   string
	Exchange  int
	Check     *reports.Check // how a script judges the response of Exchange, or nil
	Repeats   []int          // further exchanges that show the same violation
	Compared  Comparison
	Count     int
	Words     []string // neutral words on which the violation may depend; set only by judgements of all exchanges
}

// Comparison has the ids of the exchanges that a violation compares. Both are 0 if the expected value does not come
// from an exchange.
type Comparison struct {
	Shown int // ID of the exchange with the actual value
	With  int // ID of the exchange with the expected value
}

func (o *Outcome) Error() string { return o.Reason }

// Fails returns the outcome of a violation. a is the evidence, or nil if there was no response. If v.Actual is empty, it
// describes the response.
func Fails(a *exchange.Response, v Violation) *Outcome {
	v.Count = max(v.Count, 1)
	if a != nil {
		v.Exchange = a.ID
		if v.Actual == "" {
			v.Actual = gotAt(a, v.Pointer)
		}
		if a.Request.AfterOther {
			v.onUsedConnection()
		}
	}
	v.Expected = safe.Prefix(v.Expected, 2*maxText)
	v.Actual = safe.Prefix(strings.TrimRight(v.Actual, "\n"), 2*maxText)
	return (&Outcome{Verdict: reports.Failed, Violations: []Violation{v}}).withReason()
}

// onUsedConnection notes that the connection had been used by another caller. A script sends each request on a new
// connection, so it cannot judge the response.
func (v *Violation) onUsedConnection() {
	v.Check = nil
	v.Class = strings.TrimSpace(v.Class + " used connection")
	v.Summary += ", on a connection that has served another caller"
	v.Hint = "take the caller from each request, not from the connection"
}

// Statuses returns the check of a response that must have one of the statuses: "422", or "4XX" for a class.
func Statuses(allowed ...string) *reports.Check { return &reports.Check{Statuses: allowed} }

// PointerOf returns the JSON pointer for a GJSON path of plain names.
func PointerOf(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }

// withReason sets the reason to a sentence about the first violation.
func (o *Outcome) withReason() *Outcome {
	v := o.Violations[0]
	expected, actual := CutAround(v.Expected, v.Actual)
	o.Reason = "expected " + expected + ", got " + firstLine(actual)
	if v.Summary != "" {
		o.Reason = v.Summary + ": " + o.Reason
	}
	return o
}

// Comparing notes that the expected value comes from another response, usually an earlier one. If either response is nil,
// it notes nothing.
func (o *Outcome) Comparing(shown, with *exchange.Response) *Outcome {
	if shown != nil && with != nil {
		o.Violations[0].Compared = Comparison{shown.ID, with.ID}
	}
	return o
}

// Hinting sets the hint: a remedy for the user.
func (o *Outcome) Hinting(hint string) *Outcome {
	o.Violations[0].Hint = hint
	return o
}

// FirstOf judges several values that can show the same fault. It returns the first error, or nil. The violation in it
// gets the number of errors as its count, and the exchanges of the others.
func FirstOf[T any](all []T, judge func(T) error) error {
	var first error
	count := 0
	var repeats []int
	for _, value := range all {
		err := judge(value)
		if err == nil {
			continue
		}
		count++
		if first == nil {
			first = err
			continue
		}
		o, is := errors.AsType[*Outcome](err)
		if is && len(o.Violations) > 0 {
			repeats = append(repeats, o.Violations[0].Exchange)
		}
	}
	o, is := errors.AsType[*Outcome](first)
	if is && len(o.Violations) > 0 {
		o.Violations[0].Count = count
		o.Violations[0].Repeats = repeats
	}
	return first
}

// Shows returns the exchanges that show the violation. Unknown exchanges are 0.
func (v Violation) Shows() []int { return append([]int{v.Exchange}, v.Repeats...) }

// All returns one outcome for several violations of different kinds, or nil if there are none.
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

// Blocked returns the outcome of a step whose precondition is not met.
func Blocked(cause string, args ...any) *Outcome {
	return &Outcome{Verdict: reports.Blocked, Reason: fmt.Sprintf(cause, shortened(args)...)}
}

// Inconclusive returns the outcome of a step without evidence: it observed nothing that could have shown a violation.
func Inconclusive(reason string, args ...any) *Outcome {
	return &Outcome{Verdict: reports.Inconclusive, Reason: fmt.Sprintf(reason, shortened(args)...)}
}

// SuiteError returns the outcome of an error of the suite itself, which shows nothing about the target.
func SuiteError(reason string, args ...any) *Outcome {
	return Inconclusive("the suite itself failed here, please report it: "+reason, args...).By(reports.BySuite, "error")
}

// By adds the causes that prevented a judgement.
func (o *Outcome) By(kind reports.BlockerKind, names ...string) *Outcome {
	for _, name := range names {
		o.BlockedBy = append(o.BlockedBy, reports.Blocker{Kind: kind, Name: name})
	}
	return o
}

// LacksEvidence returns the outcome of a step that judges the record of a test run if that has no evidence. Only the
// requirements with the IDs and patterns could have produced evidence. If a test run leaves out all of them, this
// requirement is skipped.
func LacksEvidence(shownBy []string, reason string, args ...any) *Outcome {
	o := Inconclusive(reason, args...)
	o.ShownBy = shownBy
	return o
}

// IsBy reports whether a cause of the kind prevented a judgement.
func (o *Outcome) IsBy(kind reports.BlockerKind) bool {
	return slices.ContainsFunc(o.BlockedBy, func(b reports.Blocker) bool { return b.Kind == kind })
}

// ByRequirement adds the requirements that own the behavior that prevented a judgement. They fail in their own scenarios.
func (o *Outcome) ByRequirement(ids ...string) *Outcome { return o.By(reports.ByRequirement, ids...) }

// Inapplicable skips the scenario because it is about a feature that the target need not have. This is the only skip that
// does not make a test run partial. The key is a key of the configuration, or a name for the missing feature.
func Inapplicable(key, reason string, args ...any) *Outcome {
	return Skipped(reports.NotApplicable, key, "not applicable: "+reason, args...)
}

// Needs skips the scenario because a key of the configuration is missing. The explanation begins with its punctuation and
// is appended to the reason.
func Needs(key string, explanation ...string) *Outcome {
	return Skipped(reports.NotConfigured, key, "not configured: set %s%s", key, strings.Join(explanation, ""))
}

// NotConfigured skips the scenario because a key of the configuration is missing or wrong. Unlike in Needs, the text is
// the whole reason.
func NotConfigured(key, reason string, args ...any) *Outcome {
	return Skipped(reports.NotConfigured, key, reason, args...)
}

// OverBudget skips the scenario because the budget is used up. The key and its value are from the configuration.
func OverBudget(key string, most int) *Outcome {
	return Skipped(reports.OverBudget, key, "the budget is used up: raise %s (now %d)", key, most)
}

// ReadOnly skips the scenario because it would write to the target and the test run only reads.
func ReadOnly(explanation ...string) *Outcome {
	return Skipped(reports.NotSelected, "--read-only", "not selected: --read-only writes nothing to the target%s",
		strings.Join(explanation, ""))
}

// Skipped skips the scenario. The key is a key of the configuration or a flag.
func Skipped(kind reports.SkipKind, key, reason string, args ...any) *Outcome {
	return &Outcome{Verdict: reports.Skipped, Reason: fmt.Sprintf(reason, shortened(args)...),
		Skip: &reports.Skip{Kind: kind, Key: key}}
}

// Is reports whether an error is an outcome with the verdict.
func Is(err error, verdict reports.Verdict) bool {
	var o *Outcome
	return errors.As(err, &o) && o.Verdict == verdict
}
