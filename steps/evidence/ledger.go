package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
)

// Ledger is the list of all that the run created at the target. Each entry is in the file before the next
// request is sent, so that nothing is lost after a crash.
type Ledger struct {
	run, target string

	mu      sync.Mutex
	file    *os.File // nil: kept in memory only
	entries []reports.LedgerEntry
	of      *things
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
		return &Ledger{run: run, target: target, of: newThings()}, nil
	}
	return openLedger(path, run, target, func(e Left) bool { return !e.Unremovable })
}

// ContinueLedger opens a ledger to note what is removed later. All that was not removed stays in the file.
func ContinueLedger(path string) (*Ledger, error) {
	return openLedger(path, "", "", func(Left) bool { return true })
}

// note takes what is said of something now.
func (l *Ledger) note(e reports.LedgerEntry) {
	at, known := l.of.place[nameOf(e)]
	if known {
		l.entries[at].Removed, l.entries[at].Reason, l.entries[at].Unremovable = e.Removed, e.Reason, e.Unremovable
	} else {
		l.of.add(e, len(l.entries))
		l.entries = append(l.entries, e)
	}
	if e.Removed {
		l.takes(e)
	}
}

// takes notes what is gone with the removal of something.
func (l *Ledger) takes(e reports.LedgerEntry) {
	for _, i := range l.of.goneWith(e) {
		l.entries[i].Removed, l.entries[i].Reason, l.entries[i].Unremovable = true, "", false
	}
}

// Left returns what the run has created and has not removed.
func (l *Ledger) Left(kind string) []reports.LedgerEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sorted(slices.DeleteFunc(slices.Clone(l.entries), func(e reports.LedgerEntry) bool { return e.Kind != kind || e.Removed }))
}

func openLedger(path, run, target string, keep func(Left) bool) (*Ledger, error) {
	if err := outfile.Check(path); err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	content, err := contentOf(path)
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
	return &Ledger{run: run, target: target, file: f, of: newThings()}, nil
}

// The kinds of things that a run creates.
const (
	Deployment = "deployment"
	Thread     = "thread"
	Run        = "run" // removed with its thread
)

// isRemovable tells whether a client can remove an entry. Where it is not known where a thread is, nothing is sent.
func isRemovable(e reports.LedgerEntry) bool {
	return e.Kind == Deployment || e.Kind == Thread && e.Address != ""
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
	if _, known := l.of.place[nameOf(e)]; known {
		return nil
	}
	l.note(e)
	return l.write(e)
}

// Removed notes that something is gone, and with it all that belongs to it.
func (l *Ledger) Removed(e reports.LedgerEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Removed, e.Reason, e.Unremovable = true, "", false
	if _, known := l.of.place[nameOf(e)]; known {
		l.note(e)
	} else {
		l.takes(e)
	}
	return l.write(e)
}

// NotRemoved notes why something was not removed: the reason, and whether the target cannot remove it, stand in the entry.
func (l *Ledger) NotRemoved(e reports.LedgerEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, known := l.of.place[nameOf(e)]; known {
		l.entries[at].Reason, l.entries[at].Unremovable = e.Reason, e.Unremovable
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
