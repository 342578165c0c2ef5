package doctor

import "fmt"

// examineVocabulary reports neutral words that the target uses though vocabulary maps them to others. What the few
// requests of doctor did not show is left to a run.
func (x *examiner) examineVocabulary(e *Examination) {
	for _, name := range x.words.Unchanged() {
		found := fmt.Sprintf("the target uses %q and never %q", name, x.target.Client.Words.OnWire(name))
		e.add(Problem, "vocabulary."+name, found, "remove or correct vocabulary."+name)
	}
}
