package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// blockUnknownWords blocks, at the end of a run, what failed over words that `vocabulary` maps to something that the
// target has never shown: the cause is the configuration, not the target. What failed over anything else stays
// failed.
func (r *run) blockUnknownWords(selected []*features.Scenario) {
	if len(r.target.Client.Words) == 0 {
		return
	}
	for _, s := range selected {
		v := r.verdicts[s.Key()]
		if v.outcome == nil || v.outcome.Verdict != reports.Failed {
			continue
		}
		var rest []outcome.Violation
		var doubtful []string
		for _, violation := range v.outcome.Violations {
			if words := r.doubtfulWords(s, violation); len(words) > 0 {
				doubtful = append(doubtful, words...)
			} else {
				rest = append(rest, violation)
			}
		}
		switch {
		case len(doubtful) == 0:
		case len(rest) > 0:
			reduced := *v.outcome
			reduced.Violations = rest
			v.outcome = &reduced
		default:
			slices.Sort(doubtful)
			doubtful = slices.Compact(doubtful)
			v.outcome = outcome.Blocked("%s", aboutWords(r.target, doubtful)).By(reports.ByKey, keysOf(doubtful)...)
			r.unknownWords = append(r.unknownWords, doubtful...)
		}
	}
}

// doubtfulWords are the words on which a violation may depend and which the target has never shown. Where a scenario
// judges the record of the run these are the violation's own; else those of the exchanges that it made under When and
// Then.
func (r *run) doubtfulWords(s *features.Scenario, v outcome.Violation) []string {
	words := r.target.Collector.Words
	if s.Terms.Record {
		return words.Doubtful(v.Words...)
	}
	doubtful := words.DoubtfulIn(v.Exchange)
	for _, x := range r.target.Collector.SentBy(s.Key() + " " + s.Name) {
		if x.Part != reports.SetUp {
			doubtful = append(doubtful, words.DoubtfulIn(x.ID)...)
		}
	}
	return doubtful
}

func keysOf(words []string) (keys []string) {
	for _, name := range words {
		keys = append(keys, "vocabulary."+name)
	}
	return keys
}

// aboutWords says what is wrong with entries of `vocabulary`.
func aboutWords(t *target.Target, names []string) string {
	var texts, unseen, shown []string
	for _, name := range names {
		as := t.Client.Words.OnWire(name)
		if slices.Contains(t.Collector.Words.Unchanged(), name) {
			texts = append(texts, fmt.Sprintf("the target uses %q and never %q: remove or correct vocabulary.%s", name, as, name))
		} else {
			unseen, shown = append(unseen, name), append(shown, as)
		}
	}
	if len(unseen) > 0 {
		texts = append(texts, fmt.Sprintf("the target never showed %s: correct %s", outcome.Quoted(shown), strings.Join(keysOf(unseen), ", ")))
	}
	return strings.Join(texts, "; ")
}

// tellWords concludes that a run is not conformant where `vocabulary` kept something from being judged, or where the
// target uses the interface's own word instead: then the target is known wrongly.
func (r *run) tellWords(res *reports.Result) {
	mistaken := append(r.unknownWords, r.target.Collector.Words.Unchanged()...)
	slices.Sort(mistaken)
	if mistaken = slices.Compact(mistaken); len(mistaken) > 0 && res.Verdict != reports.NonConformant {
		res.Verdict, res.Headline = reports.Incomplete, aboutWords(r.target, mistaken)
	}
}

// withWords says, for a finding that has neutral words in its texts, what the target calls them: its exchanges show
// only these.
func withWords(t *target.Target, f *reports.Finding) {
	var said []string
	for _, name := range t.Client.Words.Renamed() {
		if strings.Contains(f.Expected+" "+f.Actual+" "+f.Step, name) {
			said = append(said, fmt.Sprintf("%s is %q", name, t.Client.Words.OnWire(name)))
		}
	}
	if len(said) == 0 {
		return
	}
	if f.Hint != "" {
		f.Hint += "; "
	}
	f.Hint += "in the target's words " + strings.Join(said, ", ")
}
