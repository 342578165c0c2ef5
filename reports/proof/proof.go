// Package proof holds the result of a proof, that is, of the suite run against deliberate faults and variations of
// the reference, and the reports that show it: for each requirement the faults that turn it red, for each harmless
// variation that it turned nothing red.
package proof

import (
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/reports"
)

// Schema names the version of the format of proof.json.
const Schema = "agentconform.proof/v1"

// Kind says what a row of the proof tries.
type Kind string

// What a proof tries.
const (
	Pristine  Kind = "pristine"  // the reference as it is: everything must pass
	Fault     Kind = "fault"     // must be caught by the requirement that it names
	Variation Kind = "variation" // must turn nothing red
	Impostor  Kind = "impostor"  // is no implementation at all: must never be conformant
)

// Proof is everything that a proof showed.
type Proof struct {
	Schema       string        `json:"schema"`
	Version      string        `json:"version"`
	Whole        bool          `json:"whole"` // not limited to some faults
	Requirements []Requirement `json:"requirements"`
	Rows         []Row         `json:"rows"`
	Problems     []string      `json:"problems"` // why the proof fails; empty when it holds
	DurationMS   int64         `json:"duration_ms"`
}

// Requirement is one column of the matrix.
type Requirement struct {
	ID    string        `json:"id"`
	Level reports.Level `json:"level"`
	Title string        `json:"title"`
}

// Row is one run of the suite against one deviation.
type Row struct {
	Kind    Kind               `json:"kind"`
	Name    string             `json:"name"`
	Does    string             `json:"does"` // in a sentence
	Edition string             `json:"edition,omitempty"`
	Fails   string             `json:"fails,omitempty"` // the requirement that must catch it
	Also    map[string]string  `json:"also,omitempty"`  // further ones that inevitably fail, with the reason
	Verdict reports.Conclusion `json:"verdict"`
	Red     []string           `json:"red"`  // requirements that failed
	Open    []string           `json:"open"` // blocked or inconclusive
	Shown   string             `json:"shown,omitempty"`
	Problem string             `json:"problem,omitempty"`
	MS      int64              `json:"ms"`
	// Replayed is how many findings were judged again, with the right answer each time.
	Replayed int `json:"replayed,omitempty"`
}

// Radius is how many requirements went red because of the row.
func (r Row) Radius() int { return len(r.Red) }

// Judge says what is wrong with a row, or "".
func (r Row) Judge(level reports.Level) string {
	switch r.Kind {
	case Pristine, Variation:
		if len(r.Red) > 0 {
			return fmt.Sprintf("turned red: %v (%s)", r.Red, r.Shown)
		}
		if r.Verdict != reports.Conformant {
			return fmt.Sprintf("the verdict is %s; open: %v", r.Verdict, r.Open)
		}
	case Impostor:
		if r.Verdict == reports.Conformant {
			return "was taken for conformant"
		}
	case Fault:
		return r.judgeFault(level)
	}
	return ""
}

func (r Row) judgeFault(level reports.Level) string {
	if !slices.Contains(r.Red, r.Fails) {
		if slices.Contains(r.Open, r.Fails) {
			return fmt.Sprintf("%s is only blocked or inconclusive; red: %v", r.Fails, r.Red)
		}
		return fmt.Sprintf("missed by %s; red: %v", r.Fails, r.Red)
	}
	for _, id := range r.Red {
		if id != r.Fails && r.Also[id] == "" {
			return fmt.Sprintf("%s is red too, which the fault does not declare; red: %v", id, r.Red)
		}
	}
	for id := range r.Also {
		if !slices.Contains(r.Red, id) {
			return fmt.Sprintf("declares that %s fails with it, and it does not", id)
		}
	}
	if level == reports.Must && r.Verdict != reports.NonConformant {
		return fmt.Sprintf("the verdict is %s", r.Verdict)
	}
	return ""
}

// Fewest is how many faults must show that a requirement of the level can fail.
func Fewest(level reports.Level) int {
	if level == reports.Must {
		return 2
	}
	return 1
}

// Conclude fills the problems of the rows and of the whole. A whole proof must also reach every requirement.
func (p *Proof) Conclude() {
	p.Problems = []string{}
	levels, faults := map[string]reports.Level{}, map[string]int{}
	for _, q := range p.Requirements {
		levels[q.ID] = q.Level
	}
	for i := range p.Rows {
		row := &p.Rows[i]
		if row.Problem == "" {
			row.Problem = row.Judge(levels[row.Fails])
		}
		if row.Kind == Fault {
			faults[row.Fails]++
		}
		if row.Problem != "" {
			p.Problems = append(p.Problems, fmt.Sprintf("%s %s: %s", row.Kind, row.Name, row.Problem))
		}
	}
	if !p.Whole {
		return
	}
	for _, q := range p.Requirements {
		if n := faults[q.ID]; n < Fewest(q.Level) {
			p.Problems = append(p.Problems, fmt.Sprintf("%s is a %s and has %s, fewer than %d", q.ID, q.Level, reports.Count(n, "fault"), Fewest(q.Level)))
		}
	}
}

// Verdict says in a few words whether the proof holds.
func (p *Proof) Verdict() string {
	switch {
	case len(p.Problems) == 0 && !p.Whole:
		return "the proof holds for this part: the other faults were not tried"
	case len(p.Problems) == 0:
		return "the proof holds"
	}
	return "the proof fails: " + reports.Count(len(p.Problems), "problem")
}

// Sentence sums the proof up. Of a part it leaves out what was not tried.
func (p *Proof) Sentence() string {
	if p.Whole {
		return p.Figures().String()
	}
	return p.Figures().part()
}

// Figures sums a proof up.
type Figures struct {
	Requirements, Faults, Caught, Variations, Green, Impostors, Unmasked int
	// MedianRadius and WidestRadius tell how many requirements a fault turned red.
	MedianRadius, WidestRadius int
}

// Figures counts the rows.
func (p *Proof) Figures() Figures {
	f := Figures{Requirements: len(p.Requirements)}
	var radii []int
	for _, r := range p.Rows {
		good := 0
		if r.Problem == "" {
			good = 1
		}
		switch r.Kind {
		case Fault:
			f.Faults++
			f.Caught += good
			radii = append(radii, r.Radius())
		case Variation:
			f.Variations++
			f.Green += good
		case Impostor:
			f.Impostors++
			f.Unmasked += good
		}
	}
	if slices.Sort(radii); len(radii) > 0 {
		f.MedianRadius, f.WidestRadius = radii[len(radii)/2], radii[len(radii)-1]
	}
	return f
}
