package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of a ledger that is read: it may come from anywhere. One of a run has some thousands of lines of some hundred bytes.
const (
	maxLedger  = 64 << 20 // bytes
	maxLine    = 1 << 20  // bytes
	maxDamaged = 1000     // lines that cannot be read
	maxQuoted  = 200      // bytes of such a line that are kept
)

// Damaged is a line of a ledger that cannot be read: what it names may still be at the target.
type Damaged struct {
	Line int
	Text string // its beginning
}

// ReadLedger returns the deployments and threads that runs did not remove, in the order of their creation, and the lines that
// cannot be read. A last line that a crash has cut short is passed over: what it was about had not been acknowledged.
func ReadLedger(path string) ([]Left, []Damaged, error) {
	content, err := contentOf(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the ledger: %w", err)
	}
	return parseLedger(path, content)
}

// contentOf reads a file within the bound of a ledger.
func contentOf(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	content, err := io.ReadAll(io.LimitReader(file, maxLedger+1))
	if err == nil && len(content) > maxLedger {
		err = fmt.Errorf("%s has more than %d bytes, which no ledger has; is it the right file?", path, maxLedger)
	}
	return content, err
}

func parseLedger(path string, content []byte) (left []Left, damaged []Damaged, err error) {
	entries, number, gone, of := 0, 0, map[int]bool{}, newThings()
	for line := range bytes.Lines(whole(content)) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		e, readable := parseEntry(line)
		if !readable {
			damaged = append(damaged, Damaged{number, safe.Cut(string(line[:min(len(line), maxQuoted)]), maxQuoted)})
			if len(damaged) > maxDamaged {
				return nil, nil, fmt.Errorf("%s: more than %d lines are no ledger entries; use the ledger.jsonl of a run, or move the file", path, maxDamaged)
			}
			continue
		}
		entries++
		if at, known := of.place[nameOf(e.LedgerEntry)]; known {
			gone[at] = true // what is said now counts
		}
		if e.Removed {
			for _, at := range of.goneWith(e.LedgerEntry) {
				gone[at] = true
			}
		} else if isRemovable(e.LedgerEntry) {
			of.add(e.LedgerEntry, len(left))
			left = append(left, e)
		}
	}
	if entries == 0 && len(damaged) > 0 {
		return nil, nil, fmt.Errorf("%s:%d is not a ledger entry; use the ledger.jsonl of a run, or move the file", path, damaged[0].Line)
	}
	at := -1
	left = slices.DeleteFunc(left, func(Left) bool { at++; return gone[at] })
	return left, damaged, nil
}

// parseEntry reads a line. Its ids become segments of paths, and must be able to.
func parseEntry(line []byte) (e Left, readable bool) {
	if len(line) > maxLine || json.Unmarshal(line, &e) != nil || e.Kind == "" || !reports.IsSegment(e.ID, maxGivenID) {
		return e, false
	}
	for _, id := range []string{e.Deployment, e.Thread} {
		if id != "" && !reports.IsSegment(id, maxGivenID) {
			return e, false
		}
	}
	return e, true
}

// whole leaves out a last line that was cut short.
func whole(content []byte) []byte {
	end := bytes.LastIndexByte(content, '\n') + 1
	if json.Valid(content[end:]) {
		return content
	}
	return content[:end]
}

// worthKeeping returns what stays of a ledger when it is opened: what was not removed, if it is to be kept. Where lines cannot be
// read, all of them stay, so that the number of a line still tells which one is meant.
func worthKeeping(path string, content []byte, keep func(Left) bool) ([]byte, error) {
	left, damaged, err := parseLedger(path, content)
	if err != nil {
		return nil, err
	}
	if len(damaged) > 0 {
		return append(bytes.TrimRight(whole(content), "\n"), '\n'), nil
	}
	var kept []byte
	for _, e := range left {
		if !keep(e) {
			continue
		}
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		kept = append(append(kept, line...), '\n')
	}
	return kept, nil
}

// thing is what an entry is about: two entries with the same one are about the same. The ids of threads and runs are unique at their
// server only.
type thing struct{ kind, id, address, thread string }

func nameOf(e reports.LedgerEntry) thing {
	if e.Kind == Deployment {
		return thing{kind: Deployment, id: e.ID}
	}
	return thing{e.Kind, e.ID, e.Address, e.Thread}
}

// things finds the places of entries in a list, and of those that go with the removal of another one: a deployment takes its threads, a
// thread its runs. A ledger may have very many lines.
type things struct {
	place map[thing]int
	with  map[thing][]int
}

func newThings() *things { return &things{map[thing]int{}, map[thing][]int{}} }

func (t *things) add(e reports.LedgerEntry, at int) {
	t.place[nameOf(e)] = at
	if e.Deployment != "" {
		t.goesWith(thing{kind: Deployment, id: e.Deployment}, at)
	}
	if e.Kind == Run {
		t.goesWith(thing{kind: Thread, id: e.Thread, address: e.Address}, at)
	}
}

// goneWith returns what goes with the removal of something, once.
func (t *things) goneWith(e reports.LedgerEntry) []int {
	all := t.with[nameOf(e)]
	delete(t.with, nameOf(e))
	return all
}

func (t *things) goesWith(owner thing, at int) { t.with[owner] = append(t.with[owner], at) }
