package resume

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Journal is the journal of a run that goes on. It may be used by many goroutines. A nil journal takes everything and keeps nothing.
type Journal struct {
	Redact *client.Redactor // takes the secrets out of what is written; nil: there are none

	path string
	mu   sync.Mutex
	file *os.File
	seen map[string]bool // statuses of revisions
	used bool            // it holds more than its first line
	err  error
}

// Create begins the journal of a new run in the folder of its reports, in place of one that is there.
func Create(folder string, h Header) (*Journal, error) {
	path := filepath.Join(folder, File)
	if err := mark.Of(path); err != nil {
		return nil, fmt.Errorf("opening the journal of the run: %w", err)
	}
	file, err := emptied(path)
	if err != nil {
		return nil, fmt.Errorf("opening the journal of the run: %w; name another folder with --out", err)
	}
	h.Schema = Schema
	j := &Journal{path: path, file: file, seen: map[string]bool{}}
	j.write(line{Run: &h})
	return j, j.Err()
}

// mark is in the first line of a journal.
const mark outfile.Mark = `"` + Schema + `"`

// emptied opens a new file in place of one that is there.
func emptied(path string) (*os.File, error) {
	if err := outfile.Text(path, outfile.Public, nil); err != nil {
		return nil, err
	}
	return outfile.Append(path)
}

// Continue opens the journal of a run that was broken off, without a last line that was cut short, and notes that it goes on.
func (b *Broken) Continue() (*Journal, error) {
	path := filepath.Join(b.folder, File)
	if err := mark.Of(path); err != nil {
		return nil, fmt.Errorf("opening the journal of the run: %w", err)
	}
	file, err := outfile.Append(path)
	if err != nil {
		return nil, fmt.Errorf("opening the journal of the run: %w", err)
	}
	if err := file.Truncate(b.end); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the journal of the run: %w", err), file.Close())
	}
	j := &Journal{path: path, file: file, seen: map[string]bool{}, used: true}
	for _, t := range b.Timeline {
		j.seen[t.Revision+" "+t.Status] = true
	}
	now := b.Resumptions[len(b.Resumptions)-1]
	j.write(line{Resumed: &now})
	return j, j.Err()
}

// Observe is for evidence.Collector.Record: it returns what writes the exchange.
func (j *Journal) Observe(o *evidence.Observed) (write func() error) {
	text, err := encode(line{Exchange: o})
	return func() error {
		if err != nil {
			return err
		}
		return j.append(text)
	}
}

// End writes the verdict of a scenario. All its exchanges up to its verdict were written before.
func (j *Journal) End(s Scenario) {
	if j == nil {
		return
	}
	s.Outcome = j.redacted(s.Outcome)
	s.Learned.Notes = slices.Clone(s.Learned.Notes)
	s.Learned.AgentServer = j.text(s.Learned.AgentServer)
	j.write(line{Scenario: &s})
}

// Status writes a status of a revision, once.
func (j *Journal) Status(t reports.Transition) {
	if j == nil {
		return
	}
	t.Revision, t.Status = safe.Cut(j.text(t.Revision), maxName), safe.Cut(j.text(t.Status), maxName)
	j.mu.Lock()
	key := t.Revision + " " + t.Status
	known := j.seen[key]
	j.seen[key] = true
	j.mu.Unlock()
	if !known {
		j.write(line{Status: &t})
	}
}

func (j *Journal) text(s string) string {
	if j.Redact == nil {
		return s
	}
	return j.Redact.Text(s)
}

func (j *Journal) excerpt(s string) string {
	if j.Redact == nil {
		return s
	}
	return j.Redact.Excerpt(s)
}

// redacted is an outcome without secrets, within the bounds of the journal.
func (j *Journal) redacted(o *outcome.Outcome) *outcome.Outcome {
	if o == nil {
		return nil
	}
	same := *o
	same.Reason = safe.Cut(j.excerpt(o.Reason), maxText)
	same.BlockedBy, same.Violations = slices.Clone(o.BlockedBy), slices.Clone(o.Violations)
	for i := range same.BlockedBy {
		same.BlockedBy[i].Name = safe.Cut(j.text(same.BlockedBy[i].Name), maxText)
	}
	for i := range same.Violations {
		v := &same.Violations[i]
		v.Actual = j.excerpt(v.Actual)
		for _, text := range []*string{&v.Summary, &v.Expected, &v.Actual, &v.Hint, &v.Operation, &v.Pointer, &v.Differs, &v.Key} {
			*text = safe.Prefix(j.text(*text), maxText)
		}
	}
	return &same
}

func encode(l line) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return nil, fmt.Errorf("writing the journal of the run: %w", err)
	}
	if b.Len() > maxLine {
		return nil, fmt.Errorf("writing the journal of the run: a line of %d bytes is longer than %d", b.Len(), maxLine)
	}
	return b.Bytes(), nil
}

func (j *Journal) write(l line) {
	text, err := encode(l)
	if err == nil {
		err = j.append(text)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = err
	}
	j.used = j.used || l.Scenario != nil
}

// append adds a line with one call of the system, so that a process that is killed leaves at most one that is cut short.
func (j *Journal) append(text []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.Write(text); err != nil {
		return fmt.Errorf("writing the journal of the run: %w (is the disk full?)", err)
	}
	return nil
}

// Err is the first failure to write.
func (j *Journal) Err() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close closes the journal of a run that did not end; one that holds nothing is removed.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	err := j.file.Close()
	if !j.used && err == nil {
		err = os.Remove(j.path)
	}
	return err
}

// Remove closes and removes the journal of a run whose reports are written.
func (j *Journal) Remove() error {
	if j == nil {
		return nil
	}
	if err := errors.Join(j.file.Close(), os.Remove(j.path)); err != nil {
		return fmt.Errorf("removing the journal of the run: %w; remove it by hand", err)
	}
	return nil
}
