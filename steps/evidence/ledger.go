package evidence

import (
	"bufio"
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
// request is sent, so that a crash leaves nothing unknown behind.
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
// memory. What earlier runs have left behind stays in the file.
func OpenLedger(path, run, target string) (*Ledger, error) {
	if path == "" {
		return &Ledger{run: run, target: target}, nil
	}
	left, err := ReadLedger(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var kept bytes.Buffer
	for _, e := range left {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		kept.Write(append(line, '\n'))
	}
	if err := os.WriteFile(path+".new", kept.Bytes(), 0o644); err != nil {
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

// ReadLedger returns the deployments that runs have left behind, in the order of their creation. A last line that a crash has
// cut short is passed over: what it was about had not been acknowledged.
func ReadLedger(path string) ([]Left, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	var left []Left
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var e Left
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Kind == "" {
			if bytes.Count(content, []byte("\n")) < n {
				break
			}
			return nil, fmt.Errorf("%s:%d is no entry of a ledger; name the ledger.jsonl of a run, or move the file away", path, n)
		}
		left = slices.DeleteFunc(left, func(known Left) bool { return known.Kind == e.Kind && known.ID == e.ID })
		if !e.Removed && e.Kind == removable {
			left = append(left, e)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s is no ledger: %w; name the ledger.jsonl of a run, or move the file away", path, err)
	}
	return left, nil
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
