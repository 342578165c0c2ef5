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
	"github.com/agentconform/agentconform/steps/exchange"
)

// Ledger lists everything that a test run created at the target. Each entry is in the file before the next request is
// sent, so that a crash loses nothing.
type Ledger struct {
	run, target string

	mu      sync.Mutex
	file    *os.File          // nil means that the ledger is in memory only
	entries []Left            // each object once, in its last state; the file may have several lines for it
	place   map[ledgerKey]int // index of each entry in entries, by its key
}

// Left is something that a test run created.
type Left struct {
	Run    string `json:"run"`
	Target string `json:"target"` // base URL of the control plane, or ""
	reports.LedgerEntry
}

// The kinds of things that a test run creates.
const (
	Deployment = "deployment"
	Thread     = "thread"
	Run        = "run" // removed with its thread
)

// OpenLedger begins the part of a test run in the file, with one JSON object per line. If the path is empty, the ledger
// is in memory. Entries of earlier test runs that were not removed remain in the file, unless the target cannot remove
// them. If a line cannot be read, all lines remain.
func OpenLedger(path, run, target string) (*Ledger, error) {
	if path == "" {
		return &Ledger{run: run, target: target, place: map[ledgerKey]int{}}, nil
	}
	return openLedger(path, run, target, func(e Left) bool { return !e.Unremovable })
}

// ContinueLedger opens a ledger to record later removals. Entries that were not removed remain in the file.
func ContinueLedger(path string) (*Ledger, error) {
	return openLedger(path, "", "", func(Left) bool { return true })
}

// CheckLedger returns the error that [OpenLedger] would return, and changes nothing. It ignores a folder that cannot be
// created.
func CheckLedger(path string) error {
	_, err := keptOf(path, func(Left) bool { return true })
	if errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// keptOf returns the lines of a file that remain when it is opened. A missing file has none.
func keptOf(path string, keep func(Left) bool) ([]byte, error) {
	if err := outfile.Check(path); err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	content, err := outfile.Read(path, maxLedger)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	return linesToKeep(path, content, keep)
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
	return &Ledger{run: run, target: target, file: f, place: map[ledgerKey]int{}}, nil
}

// Created adds an object that was created at the control plane.
func (l *Ledger) Created(kind, id, by string) error {
	return l.Add(reports.LedgerEntry{Kind: kind, ID: id, Address: l.target, CreatedBy: by})
}

// Add adds an object that was created at the address of the entry. It does not change known entries.
func (l *Ledger) Add(e reports.LedgerEntry) error {
	e.ID = safe.Cut(e.ID, maxID) // a longer ID can be neither sent nor removed
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.place[nameOf(e)]; known {
		return nil
	}
	return l.write(e)
}

// Tried records the result of a removal: the object was removed together with its children, or the reason why it was not.
func (l *Ledger) Tried(e reports.LedgerEntry) error {
	if e.Removed {
		e.Reason, e.Unremovable = "", false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write(e)
}

// write records the state of an object and appends a line. The caller holds the lock.
func (l *Ledger) write(e reports.LedgerEntry) error {
	entry := Left{l.run, l.target, e}
	l.note(entry)
	if l.file == nil {
		return nil
	}
	line, _ := json.Marshal(entry) // strings can always be encoded
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	return nil
}

// Left returns the objects of the kinds that the test run created and has not removed.
func (l *Ledger) Left(kinds ...string) []reports.LedgerEntry {
	return slices.DeleteFunc(l.Entries(), func(e reports.LedgerEntry) bool {
		return e.Removed || !slices.Contains(kinds, e.Kind)
	})
}

// Entries returns all entries, sorted by creator and kind.
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

// ledgerKey identifies the object of an entry. The IDs of threads and runs are unique only at their server.
type ledgerKey struct{ kind, id, address, thread string }

func nameOf(e reports.LedgerEntry) ledgerKey {
	if e.Kind == Deployment {
		return ledgerKey{kind: Deployment, id: exchange.IDKey(e.ID)}
	}
	return ledgerKey{e.Kind, exchange.IDKey(e.ID), e.Address, exchange.IDKey(e.Thread)}
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

// all returns the entries. The objects of a removed deployment or thread are marked as removed too.
func (l *Ledger) all() []Left {
	all := slices.Clone(l.entries)
	isGone := func(owner reports.LedgerEntry) bool {
		at, known := l.place[nameOf(owner)]
		return known && all[at].Removed
	}
	for i := range all {
		e := &all[i]
		ofThread := e.Kind == Run && isGone(reports.LedgerEntry{Kind: Thread, ID: e.Thread, Address: e.Address})
		if ofThread || e.Deployment != "" && isGone(reports.LedgerEntry{Kind: Deployment, ID: e.Deployment}) {
			e.Removed, e.Reason, e.Unremovable = true, "", false
		}
	}
	return all
}

// Limits of a ledger that is read, because it may come from anywhere. The ledger of a test run has a few thousand lines
// of a few hundred bytes.
const (
	maxLedger  = 64 << 20 // bytes
	maxLine    = 1 << 20  // bytes
	maxDamaged = 1000     // lines that cannot be read
	maxQuoted  = 200      // recorded bytes of an unreadable line
	maxID      = 8 << 10  // bytes
)

// Damaged is a line of a ledger that cannot be read. The object of the entry may still exist at the target.
type Damaged struct {
	Line int
	Text string // the beginning of the line
}

// ReadLedger returns the deployments and threads that were not removed, in the order of their creation, and the lines
// that cannot be read.
func ReadLedger(path string) ([]Left, []Damaged, error) {
	content, err := outfile.Read(path, maxLedger)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the ledger: %w", err)
	}
	return parseLedger(path, content)
}

const anotherFile = "use the ledger.jsonl of a test run, or move the file"

func parseLedger(path string, content []byte) (left []Left, damaged []Damaged, err error) {
	read, number, readable := &Ledger{place: map[ledgerKey]int{}}, 0, false
	for line := range bytes.Lines(withoutCutLine(content)) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if e, is := parseEntry(line); is {
			readable = true
			read.note(e)
			continue
		}
		damaged = append(damaged, Damaged{number, string(line[:min(len(line), maxQuoted)])})
		if len(damaged) > maxDamaged {
			return nil, nil, fmt.Errorf("%s: more than %d lines are not ledger entries; %s", path, maxDamaged, anotherFile)
		}
	}
	if !readable && len(damaged) > 0 {
		return nil, nil, fmt.Errorf("%s:%d is not a ledger entry; %s", path, damaged[0].Line, anotherFile)
	}
	for _, e := range read.all() {
		isRemovable := e.Kind == Deployment || e.Kind == Thread && e.Address != "" // runs are removed with their threads
		if isRemovable && !e.Removed {
			left = append(left, e)
		}
	}
	return left, damaged, nil
}

// parseEntry reads a line. Its IDs must be valid segments of a path.
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

// withoutCutLine removes a last line that a crash has cut. The caller received an error for that line.
func withoutCutLine(content []byte) []byte {
	end := bytes.LastIndexByte(content, '\n') + 1
	if json.Valid(content[end:]) {
		return content
	}
	return content[:end]
}

// linesToKeep returns the lines to keep when a ledger is opened: the lines of objects that were not removed and for which
// keep returns true. If a line cannot be read, it returns all lines, so that the line numbers in messages remain correct.
func linesToKeep(path string, content []byte, keep func(Left) bool) (kept []byte, err error) {
	left, damaged, err := parseLedger(path, content)
	if err != nil {
		return nil, err
	}
	if len(damaged) > 0 {
		return append(bytes.TrimRight(withoutCutLine(content), "\n"), '\n'), nil
	}
	for _, e := range left {
		if keep(e) {
			line, _ := json.Marshal(e) // strings can always be encoded
			kept = append(append(kept, line...), '\n')
		}
	}
	return kept, nil
}
