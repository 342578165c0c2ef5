package evidence

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/reports"
)

// Ledger is the journal of all that the run created at the target. Each entry is in the file before the next
// request is sent, so that a crash leaves nothing unknown behind.
type Ledger struct {
	mu      sync.Mutex
	file    *os.File // nil: kept in memory only
	entries []reports.LedgerEntry
}

// OpenLedger begins a ledger in the file, one JSON object a line; with an empty path it is kept in memory.
func OpenLedger(path string) (*Ledger, error) {
	if path == "" {
		return &Ledger{}, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	return &Ledger{file: f}, nil
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
	line, err := json.Marshal(e)
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
