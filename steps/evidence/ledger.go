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
)

// Ledger is the journal of all that the run created at the target. Each entry is in the file before the next
// request is sent, so that nothing is lost after a crash.
type Ledger struct {
	run, target string

	mu      sync.Mutex
	file    *os.File // nil: kept in memory only
	entries []reports.LedgerEntry
}

// Left is something that a run created and has not removed.
type Left struct {
	Run    string `json:"run"`
	Target string `json:"target"` // where it is
	reports.LedgerEntry
}

// OpenLedger begins a run's part of the ledger in the file, one JSON object a line; with an empty path it is kept in
// memory. Deployments that earlier runs did not remove stay in the file; if a line cannot be read, all lines stay.
func OpenLedger(path, run, target string) (*Ledger, error) {
	if path == "" {
		return &Ledger{run: run, target: target}, nil
	}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	kept, err := worthKeeping(path, content)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path+".new", kept, 0o644); err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	return &Ledger{run: run, target: target, file: f}, nil
}

// removable are the kinds of things that a client can remove. Threads go with their deployment.
const removable = "deployment"

// Damaged is a line of a ledger that cannot be read: its deployment may still be at the target.
type Damaged struct {
	Line int
	Text string
}

// ReadLedger returns the deployments that runs did not remove, in the order of their creation, and the lines that
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
		var e Left
		if err := json.Unmarshal(line, &e); err != nil || e.Kind == "" {
			damaged = append(damaged, Damaged{n + 1, string(line)})
			continue
		}
		entries++
		left = slices.DeleteFunc(left, func(known Left) bool { return known.Kind == e.Kind && known.ID == e.ID })
		if !e.Removed && e.Kind == removable {
			left = append(left, e)
		}
	}
	if entries == 0 && len(damaged) > 0 {
		return nil, nil, fmt.Errorf("%s:%d is not a ledger entry; use the ledger.jsonl of a run, or move the file", path, damaged[0].Line)
	}
	return left, damaged, nil
}

// whole leaves out a last line that was cut short.
func whole(content []byte) []byte {
	end := bytes.LastIndexByte(content, '\n') + 1
	if json.Valid(content[end:]) {
		return content
	}
	return content[:end]
}

// worthKeeping returns what stays of a ledger when a run begins: what was not removed. Where lines cannot be read, all
// of them stay, so that the number of a line still tells which one is meant.
func worthKeeping(path string, content []byte) ([]byte, error) {
	left, damaged, err := parseLedger(path, content)
	if err != nil {
		return nil, err
	}
	if len(damaged) > 0 {
		return append(bytes.TrimRight(whole(content), "\n"), '\n'), nil
	}
	var kept []byte
	for _, e := range left {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		kept = append(append(kept, line...), '\n')
	}
	return kept, nil
}

// Created notes something new at the target.
func (l *Ledger) Created(kind, id, by string) error {
	return l.note(reports.LedgerEntry{Kind: kind, ID: id, CreatedBy: by})
}

// Removed notes that it is gone.
func (l *Ledger) Removed(kind, id string) error {
	return l.note(reports.LedgerEntry{Kind: kind, ID: id, Removed: true})
}

func (l *Ledger) note(e reports.LedgerEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.entries, func(known reports.LedgerEntry) bool { return known.Kind == e.Kind && known.ID == e.ID })
	switch {
	case at < 0:
		l.entries = append(l.entries, e)
	case e.Removed:
		l.entries[at].Removed = true
	default:
		return nil
	}
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
	all := slices.Clone(l.entries)
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
