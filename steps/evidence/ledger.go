package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
)

// Ledger is the journal of all that the run created at the target. Each entry is in the file before the next
// request is sent, so that nothing is lost after a crash.
type Ledger struct {
	run, target string

	mu      sync.Mutex
	file    *os.File // nil: kept in memory only
	entries []reports.LedgerEntry
	earlier int // of these, how many the run created before it was broken off; they come first
}

// Left is something that a run created and has not removed.
type Left struct {
	Run    string `json:"run"`
	Target string `json:"target"` // base URL of the run's control plane; empty where it had none
	reports.LedgerEntry
}

// OpenLedger begins a run's part of the ledger in the file, one JSON object a line; with an empty path it is kept in
// memory. What earlier runs did not remove stays in the file, unless the target cannot remove it; if a line cannot be read,
// all lines stay.
func OpenLedger(path, run, target string) (*Ledger, error) {
	if path == "" {
		return &Ledger{run: run, target: target}, nil
	}
	return openLedger(path, run, target, func(e Left) bool { return !e.Unremovable })
}

// ContinueLedger opens a ledger to note what is removed later. All that was not removed stays in the file.
func ContinueLedger(path string) (*Ledger, error) {
	return openLedger(path, "", "", func(Left) bool { return true })
}

// ResumeLedger goes on with the part of a run that was broken off. All that the run has created is among its entries. A last line that was
// cut short is left out; lines that cannot be read stay.
func ResumeLedger(path, run, target string) (*Ledger, error) {
	if err := outfile.Check(path); err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	content = content[:bytes.LastIndexByte(content, '\n')+1]
	if err == nil {
		err = os.Truncate(path, int64(len(content)))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	file, err := outfile.Append(path)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	l := &Ledger{run: run, target: target, file: file}
	for line := range bytes.Lines(content) {
		if e, readable := parseEntry(line); readable && e.Run == run && e.Target == target {
			l.note(e.LedgerEntry)
		}
	}
	l.earlier = len(l.entries)
	return l, nil
}

// note takes what a line of the file says of something.
func (l *Ledger) note(e reports.LedgerEntry) {
	found := false
	for i, known := range l.entries {
		if same(known, e) {
			found = true
			l.entries[i].Removed, l.entries[i].Reason, l.entries[i].Unremovable = e.Removed, e.Reason, e.Unremovable
		} else if e.Removed && goesWith(known, e) {
			l.entries[i].Removed, l.entries[i].Reason, l.entries[i].Unremovable = true, "", false
		}
	}
	if !found {
		l.entries = append(l.entries, e)
	}
}

// Earlier returns what the run created before it was broken off and has not removed.
func (l *Ledger) Earlier() (left []Left) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries[:l.earlier] {
		if !e.Removed && isRemovable(e) {
			left = append(left, Left{l.run, l.target, e})
		}
	}
	return left
}

// Left returns what the run has created, since it went on where it was broken off, and has not removed.
func (l *Ledger) Left(kind string) []reports.LedgerEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sorted(slices.DeleteFunc(slices.Clone(l.entries[l.earlier:]), func(e reports.LedgerEntry) bool { return e.Kind != kind || e.Removed }))
}

func openLedger(path, run, target string, keep func(Left) bool) (*Ledger, error) {
	if err := outfile.Check(path); err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	kept, err := worthKeeping(path, content, keep)
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
	return &Ledger{run: run, target: target, file: f}, nil
}

// The kinds of things that a run creates.
const (
	Deployment = "deployment"
	Thread     = "thread"
	Run        = "run" // removed with its thread
)

// isRemovable tells whether a client can remove an entry. The threads of a ledger of an older version have no address: where it
// is not known where something is, nothing is sent.
func isRemovable(e reports.LedgerEntry) bool {
	return e.Kind == Deployment || e.Kind == Thread && e.Address != ""
}

// same tells whether two entries are of one thing. The ids of threads and runs are unique at their server only.
func same(a, b reports.LedgerEntry) bool {
	return a.Kind == b.Kind && a.ID == b.ID && (a.Kind == Deployment || a.Address == b.Address && a.Thread == b.Thread)
}

// goesWith tells whether the removal of an entry removes another one: a deployment takes its threads, a thread its runs.
func goesWith(e, removed reports.LedgerEntry) bool {
	switch removed.Kind {
	case Deployment:
		return e.Deployment == removed.ID
	case Thread:
		return e.Kind == Run && e.Thread == removed.ID && e.Address == removed.Address
	}
	return false
}

// Damaged is a line of a ledger that cannot be read: what it names may still be at the target.
type Damaged struct {
	Line int
	Text string
}

// ReadLedger returns the deployments and threads that runs did not remove, in the order of their creation, and the lines that
// cannot be read. A last line that a crash has cut short is passed over: what it was about had not been acknowledged.
func ReadLedger(path string) ([]Left, []Damaged, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the ledger: %w", err)
	}
	return parseLedger(path, content)
}

func parseLedger(path string, content []byte) (left []Left, damaged []Damaged, err error) {
	entries := 0
	for n, line := range bytes.Split(whole(content), []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, readable := parseEntry(line)
		if !readable {
			damaged = append(damaged, Damaged{n + 1, string(line)})
			continue
		}
		entries++
		left = slices.DeleteFunc(left, func(known Left) bool {
			return same(known.LedgerEntry, e.LedgerEntry) || e.Removed && goesWith(known.LedgerEntry, e.LedgerEntry)
		})
		if !e.Removed && isRemovable(e.LedgerEntry) {
			left = append(left, e)
		}
	}
	if entries == 0 && len(damaged) > 0 {
		return nil, nil, fmt.Errorf("%s:%d is not a ledger entry; use the ledger.jsonl of a run, or move the file", path, damaged[0].Line)
	}
	return left, damaged, nil
}

// parseEntry reads a line.
func parseEntry(line []byte) (e Left, readable bool) {
	err := json.Unmarshal(line, &e)
	return e, err == nil && e.Kind != "" && !slices.Contains([]string{"", ".", ".."}, e.ID)
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

// Created notes something new at the control plane.
func (l *Ledger) Created(kind, id, by string) error {
	return l.Add(reports.LedgerEntry{Kind: kind, ID: id, Address: l.target, CreatedBy: by})
}

// Add notes something new at the address of the entry. What is known already stays as it is.
func (l *Ledger) Add(e reports.LedgerEntry) error {
	e.ID = safe.Cut(e.ID, maxGivenID) // a longer one cannot be sent, nor removed
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(l.entries, func(known reports.LedgerEntry) bool { return same(known, e) }) {
		return nil
	}
	l.entries = append(l.entries, e)
	return l.write(e)
}

// Removed notes that something is gone, and with it all that belongs to it.
func (l *Ledger) Removed(e reports.LedgerEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Removed, e.Reason, e.Unremovable = true, "", false
	for i, known := range l.entries {
		if same(known, e) || goesWith(known, e) {
			l.entries[i].Removed, l.entries[i].Reason, l.entries[i].Unremovable = true, "", false
		}
	}
	return l.write(e)
}

// NotRemoved notes why something was not removed: the reason, and whether the target cannot remove it, stand in the entry.
func (l *Ledger) NotRemoved(e reports.LedgerEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, known := range l.entries {
		if same(known, e) {
			l.entries[i].Reason, l.entries[i].Unremovable = e.Reason, e.Unremovable
		}
	}
	return l.write(e)
}

// write appends a line. The caller holds the lock.
func (l *Ledger) write(e reports.LedgerEntry) error {
	if l.file == nil {
		return nil
	}
	line, err := json.Marshal(Left{l.run, l.target, e})
	if err != nil {
		return err
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	return nil
}

// Entries returns what was noted, by creator, kind and id.
func (l *Ledger) Entries() []reports.LedgerEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sorted(slices.Clone(l.entries))
}

func sorted(all []reports.LedgerEntry) []reports.LedgerEntry {
	slices.SortStableFunc(all, func(a, b reports.LedgerEntry) int {
		return compareText(a.CreatedBy+" "+a.Kind, b.CreatedBy+" "+b.Kind)
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
