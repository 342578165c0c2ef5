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

// blockUnknownWords blocks, at the end of a run, what failed over words that `vocabulary` maps to something that the target
// has never shown: the cause is the configuration, not the target. What failed over anything else stays failed.
func (r *run) blockUnknownWords(selected []*features.Scenario) {
	if r.target.Client.Vocabulary.Empty() {
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

// doubtfulWords are the words on which a violation may depend and which the target has never shown. Where a scenario judges
// the record of the run these are the violation's own; else those of the exchanges that it made under When and Then.
func (r *run) doubtfulWords(s *features.Scenario, v outcome.Violation) []string {
	words := r.target.Collector.Words
	if r.forecast.JudgesRecord(s) {
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
		as := t.Client.Vocabulary.OnWire(name)
		if t.Collector.Words.Unchanged(name) {
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

// tellWords writes into the result which names of the interface the target has renamed, and which entries of `vocabulary` it
// never used. Where something could not be judged for that reason, or where the target uses the interface's own name instead,
// the target is known wrongly: the run is not conformant.
func (r *run) tellWords(res *reports.Result) {
	words := r.target.Collector.Words
	mistaken := r.unknownWords
	for _, w := range r.target.Client.Vocabulary.Words() {
		used := words.Shown(w.Name) || !r.target.Client.Vocabulary.InAnswers(w.Name) && words.Sent(w.Name)
		switch {
		case !w.Wire: // never in requests or answers
		case !used:
			unused := reports.UnusedWord{Name: w.Name, As: w.As, Unchanged: words.Unchanged(w.Name)}
			res.UnusedWords = append(res.UnusedWords, unused)
			if unused.Unchanged {
				mistaken = append(mistaken, w.Name)
			}
		case !w.Neutral:
			res.Renamed = append(res.Renamed, reports.Renamed{Kind: reports.RenamedKind(w.Kind), Name: w.Name, As: w.As})
		}
	}
	slices.Sort(mistaken)
	if mistaken = slices.Compact(mistaken); len(mistaken) > 0 && res.Verdict != reports.NonConformant {
		res.Verdict, res.Headline = reports.Incomplete, aboutWords(r.target, mistaken)
	}
}

// withWords says, for a finding that has names of the interface in its texts, what the target calls them: its exchanges show
// only the target's names.
func withWords(t *target.Target, f *reports.Finding) {
	var said []string
	for _, w := range t.Client.Vocabulary.Words() {
		if w.Wire && (hasWord(f.Expected, w.Name) || hasWord(f.Actual, w.Name) || hasWord(f.Step, w.Name)) {
			said = append(said, fmt.Sprintf("%s is %q", w.Name, w.As))
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

// hasWord tells whether a text has a name that is not a part of a longer one.
func hasWord(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		if (start == 0 || !inName(text[start-1])) && (end == len(text) || !inName(text[end])) {
			return true
		}
		at = end
	}
}

func inName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
