package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
)

// Ledger is the list of all that the run created at the target. Each entry is in the file before the next
// request is sent, so that nothing is lost after a crash.
type Ledger struct {
	run, target string

	mu      sync.Mutex
	file    *os.File      // nil: kept in memory only
	entries []Left        // each thing once, with what was said of it last: a ledger may have very many lines
	place   map[thing]int // of these
}

// Left is something that a run created.
type Left struct {
	Run    string `json:"run"`
	Target string `json:"target"` // base URL of the run's control plane; empty where it had none
	reports.LedgerEntry
}

// The kinds of things that a run creates.
const (
	Deployment = "deployment"
	Thread     = "thread"
	Run        = "run" // removed with its thread
)

// OpenLedger begins a run's part of the ledger in the file, one JSON object a line; with an empty path it is kept in
// memory. What earlier runs did not remove stays in the file, unless the target cannot remove it; if a line cannot be
// read, all lines stay.
func OpenLedger(path, run, target string) (*Ledger, error) {
	if path == "" {
		return &Ledger{run: run, target: target, place: map[thing]int{}}, nil
	}
	return openLedger(path, run, target, func(e Left) bool { return !e.Unremovable })
}

// ContinueLedger opens a ledger to note what is removed later. All that was not removed stays in the file.
func ContinueLedger(path string) (*Ledger, error) {
	return openLedger(path, "", "", func(Left) bool { return true })
}

// CheckLedger refuses what [OpenLedger] would refuse, and changes nothing. A folder that cannot be made has none.
func CheckLedger(path string) error {
	_, err := keptOf(path, func(Left) bool { return true })
	if errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// keptOf is what stays of the lines of a file; a file that is missing has none.
func keptOf(path string, keep func(Left) bool) ([]byte, error) {
	if err := outfile.Check(path); err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	content, err := outfile.Read(path, maxLedger)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	return worthKeeping(path, content, keep)
}

func openLedger(path, run, target string, keep func(Left) bool) (*Ledger, error) {
	kept, err := keptOf(path, keep)
	if err != nil {
		return nil, err
	}
	if err := outfile.Text(path, outfile.Public, kept); err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	f, err := outfile.Append(path)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	return &Ledger{run: run, target: target, file: f, place: map[thing]int{}}, nil
}

// Created notes something new at the control plane.
func (l *Ledger) Created(kind, id, by string) error {
	return l.Add(reports.LedgerEntry{Kind: kind, ID: id, Address: l.target, CreatedBy: by})
}

// Add notes something new at the address of the entry. What is known already stays as it is.
func (l *Ledger) Add(e reports.LedgerEntry) error {
	e.ID = safe.Cut(e.ID, maxID) // a longer one cannot be sent, nor removed
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.place[nameOf(e)]; known {
		return nil
	}
	return l.write(e)
}

// Tried notes how the removal of something ended: it is gone, and with it all that belongs to it, or there is a reason
// why not.
func (l *Ledger) Tried(e reports.LedgerEntry) error {
	if e.Removed {
		e.Reason, e.Unremovable = "", false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write(e)
}

// write notes what is said of something now, and appends a line. The caller holds the lock.
func (l *Ledger) write(e reports.LedgerEntry) error {
	said := Left{l.run, l.target, e}
	l.note(said)
	if l.file == nil {
		return nil
	}
	line, _ := json.Marshal(said) // texts, which can be written
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	return nil
}

// Left returns what of the kinds the run has created and has not removed.
func (l *Ledger) Left(kinds ...string) []reports.LedgerEntry {
	return slices.DeleteFunc(l.Entries(), func(e reports.LedgerEntry) bool {
		return e.Removed || !slices.Contains(kinds, e.Kind)
	})
}

// Entries returns what was noted, by creator and kind.
func (l *Ledger) Entries() (all []reports.LedgerEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.all() {
		all = append(all, e.LedgerEntry)
	}
	slices.SortStableFunc(all, func(a, b reports.LedgerEntry) int {
		return strings.Compare(a.CreatedBy+" "+a.Kind, b.CreatedBy+" "+b.Kind)
	})
	return all
}

// Close closes the file.
func (l *Ledger) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// thing is what an entry is about: two entries with the same one are about the same. The ids of threads and runs are
// unique at their server only.
type thing struct{ kind, id, address, thread string }

func nameOf(e reports.LedgerEntry) thing {
	if e.Kind == Deployment {
		return thing{kind: Deployment, id: e.ID}
	}
	return thing{e.Kind, e.ID, e.Address, e.Thread}
}

func (l *Ledger) note(e Left) {
	name := nameOf(e.LedgerEntry)
	if at, known := l.place[name]; known {
		same := &l.entries[at]
		same.Removed = e.Removed
		same.Reason = e.Reason
		same.Unremovable = e.Unremovable
	} else if !e.Removed {
		l.entries, l.place[name] = append(l.entries, e), len(l.entries)
	}
}

// all are the entries with what went with another one: a deployment takes its threads, a thread its runs.
func (l *Ledger) all() []Left {
	all := slices.Clone(l.entries)
	isGone := func(owner thing) bool {
		at, known := l.place[owner]
		return known && all[at].Removed
	}
	for i := range all {
		e := &all[i]
		ofThread := e.Kind == Run && isGone(thing{kind: Thread, id: e.Thread, address: e.Address})
		if ofThread || e.Deployment != "" && isGone(thing{kind: Deployment, id: e.Deployment}) {
			e.Removed, e.Reason, e.Unremovable = true, "", false
		}
	}
	return all
}

// Bounds of a ledger that is read: it may come from anywhere. One of a run has some thousands of lines of some hundred
// bytes.
const (
	maxLedger  = 64 << 20 // bytes
	maxLine    = 1 << 20  // bytes
	maxDamaged = 1000     // lines that cannot be read
	maxQuoted  = 200      // bytes of such a line that are kept
	maxID      = 8 << 10  // bytes
)

// Damaged is a line of a ledger that cannot be read: what it names may still be at the target.
type Damaged struct {
	Line int
	Text string // its beginning
}

// ReadLedger returns the deployments and threads that runs did not remove, in the order of their creation, and the
// lines that cannot be read.
func ReadLedger(path string) ([]Left, []Damaged, error) {
	content, err := outfile.Read(path, maxLedger)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the ledger: %w", err)
	}
	return parseLedger(path, content)
}

const anotherFile = "use the ledger.jsonl of a run, or move the file"

func parseLedger(path string, content []byte) (left []Left, damaged []Damaged, err error) {
	read, number, readable := &Ledger{place: map[thing]int{}}, 0, false
	for line := range bytes.Lines(whole(content)) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if e, is := parseEntry(line); is {
			readable = true
			read.note(e)
			continue
		}
		damaged = append(damaged, Damaged{number, string(line[:min(len(line), maxQuoted)])})
		if len(damaged) > maxDamaged {
			return nil, nil, fmt.Errorf("%s: more than %d lines are no ledger entries; %s", path, maxDamaged, anotherFile)
		}
	}
	if !readable && len(damaged) > 0 {
		return nil, nil, fmt.Errorf("%s:%d is not a ledger entry; %s", path, damaged[0].Line, anotherFile)
	}
	isGone := func(e Left) bool { // or cannot be removed by itself, or it is not known where
		return e.Removed || e.Kind != Deployment && (e.Kind != Thread || e.Address == "")
	}
	return slices.DeleteFunc(read.all(), isGone), damaged, nil
}

// parseEntry reads a line. Its ids become segments of paths, and must be able to.
func parseEntry(line []byte) (e Left, readable bool) {
	if len(line) > maxLine || json.Unmarshal(line, &e) != nil || e.Kind == "" || !reports.IsSegment(e.ID, maxID) {
		return e, false
	}
	for _, id := range []string{e.Deployment, e.Thread} {
		if id != "" && !reports.IsSegment(id, maxID) {
			return e, false
		}
	}
	return e, true
}

// whole leaves out a last line that a crash has cut short: what it was about had not been acknowledged.
func whole(content []byte) []byte {
	end := bytes.LastIndexByte(content, '\n') + 1
	if json.Valid(content[end:]) {
		return content
	}
	return content[:end]
}

// worthKeeping returns what stays of a ledger when it is opened: what was not removed, if it is to be kept. Where lines
// cannot be read, all of them stay, so that the number of a line still tells which one is meant.
func worthKeeping(path string, content []byte, keep func(Left) bool) (kept []byte, err error) {
	left, damaged, err := parseLedger(path, content)
	if err != nil {
		return nil, err
	}
	if len(damaged) > 0 {
		return append(bytes.TrimRight(whole(content), "\n"), '\n'), nil
	}
	for _, e := range left {
		if keep(e) {
			line, _ := json.Marshal(e) // as it was read
			kept = append(append(kept, line...), '\n')
		}
	}
	return kept, nil
}
