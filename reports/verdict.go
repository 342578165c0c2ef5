package reports

// Verdict is what was learned of a scenario or a requirement.
type Verdict string

// The verdicts of scenarios and requirements. Only Passed is a pass: blocked, inconclusive and skipped never are.
const (
	Passed       Verdict = "passed"
	Failed       Verdict = "failed"
	Blocked      Verdict = "blocked"
	Inconclusive Verdict = "inconclusive"
	Skipped      Verdict = "skipped"
)

// Verdicts lists the verdicts from worst to best, the order in which reports count them.
var Verdicts = []Verdict{Failed, Blocked, Inconclusive, Passed, Skipped}

// Worse returns the worse of two verdicts. Skipped is the weakest: a requirement with one passed and one skipped
// scenario has passed; one whose scenarios were all skipped is skipped.
func Worse(a, b Verdict) Verdict {
	if a.rank() <= b.rank() {
		return a
	}
	return b
}

// Problem tells whether the verdict is one that somebody has to look at: failed, blocked or inconclusive.
func (v Verdict) Problem() bool { return v == Failed || v == Blocked || v == Inconclusive }

func (v Verdict) rank() int {
	for i, w := range Verdicts {
		if v == w {
			return i
		}
	}
	return len(Verdicts)
}

// Conclusion is the verdict of a whole run.
type Conclusion string

// The conclusions of a run.
const (
	Conformant    Conclusion = "conformant"
	NonConformant Conclusion = "non-conformant"
	Incomplete    Conclusion = "incomplete"
)

// Level says how binding a requirement is.
type Level string

// The levels of requirements. Only a MUST decides the verdict, unless the run is strict or says --fail-on.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
	May    Level = "MAY"
)
