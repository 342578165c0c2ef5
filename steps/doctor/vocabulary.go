package doctor

import "fmt"

// examineVocabulary reports names of the interface that the target uses though vocabulary maps them to others. What the few
// requests of doctor did not show is left to a run.
func (x *examiner) examineVocabulary(e *Examination) {
	for _, w := range x.target.Client.Vocabulary.Words() {
		if x.words.Unchanged(w.Name) {
			e.add(Problem, "vocabulary."+w.Name, fmt.Sprintf("the target uses %q and never %q", w.Name, w.As), fmt.Sprintf("remove or correct vocabulary.%s", w.Name))
		}
	}
}
