package reports

import "fmt"

// Tally fills the counts of r from its requirements and exchanges. What it cannot know it leaves alone: the cases
// of a scenario that tries generated values, and the throttled answers. There are at least as many cases as
// scenarios.
func Tally(r *Result) {
	r.Counts.Requirements = zeroes()
	r.Counts.Scenarios = zeroes()
	scenarios := 0
	for _, q := range r.Requirements {
		r.Counts.Requirements[q.Verdict]++
		for _, s := range q.Scenarios {
			r.Counts.Scenarios[s.Verdict]++
			scenarios++
		}
	}
	r.Counts.Cases = max(r.Counts.Cases, scenarios)
	r.Counts.Exchanges = 0
	if r.Exchanges != nil {
		r.Counts.Exchanges = r.Exchanges.Len()
	}
}

// zeroes holds every verdict, so that a reader of the file sees "failed: 0" and need not infer it.
func zeroes() map[Verdict]int {
	counts := make(map[Verdict]int, len(Verdicts))
	for _, v := range Verdicts {
		counts[v] = 0
	}
	return counts
}

// Count puts a number and a noun together: "1 run", "3 runs".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
