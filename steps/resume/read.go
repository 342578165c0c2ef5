package resume

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/evidence"
)

// Broken is a run that was broken off, as its journal tells.
type Broken struct {
	Header
	Ended    map[string]Scenario // by key
	Timeline []reports.Transition
	Learned  Learned // the last that was noted

	// Resumptions are those of the run so far, and the present one.
	Resumptions []reports.Resumption

	folder    string
	scenarios []string       // attributions of the catalogue, sorted
	end       int64          // of the last whole line
	parts     map[string]int // in which part of the run each scenario ended, by attribution; the first part is 1
	exchanges int
	base      time.Duration // of the run, when its last part began
	elapsed   time.Duration
}

// Elapsed is for how long the run went on, without the times in which it was broken off.
func (b *Broken) Elapsed() time.Duration {
	if b == nil {
		return 0
	}
	return b.elapsed
}

// Part is the number of the part of the run that begins now: 2 where it was broken off once, 0 for a new run.
func (b *Broken) Part() int {
	if b == nil {
		return 0
	}
	return len(b.Resumptions) + 1
}

// Read reads the journal in the folder of a run's reports. What it says must be possible by the catalogue. The error says what to
// do: there is no journal, the run has ended, or a line cannot be read. A last line that was cut short is left out.
func Read(folder string, catalogue *features.Catalogue, now time.Time) (*Broken, error) {
	file, err := open(folder)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	b, number, err := read(file, newChecker(catalogue))
	if err != nil {
		return nil, fmt.Errorf("--resume %s: %s, line %d: %w; run without --resume", folder, filepath.Join(folder, File), number, err)
	}
	b.folder = folder
	b.Resumptions = append(b.Resumptions, reports.Resumption{BrokenAt: b.began().Add(b.elapsed - b.base).UTC().Truncate(time.Millisecond),
		ResumedAt: now.UTC().Truncate(time.Millisecond), TakenOver: len(b.Ended)})
	return b, nil
}

// read reads a journal. Where there is an error, the number is that of the last line that was read.
func read(journal io.Reader, c *checker) (b *Broken, number int, err error) {
	c.broken.end, err = eachLine(journal, func(l *line) error {
		number++
		if err := c.line(number, l); err != nil {
			return err
		}
		c.take(l)
		return nil
	})
	if err == nil && number == 0 {
		err = errors.New("it is empty")
	}
	return c.broken, number, err
}

// open opens the journal in a folder.
func open(folder string) (*os.File, error) {
	path := filepath.Join(folder, File)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Join(folder, "result.json")); err == nil {
			return nil, fmt.Errorf("--resume %s: the run there has ended, %s has its result; run without --resume", folder, filepath.Join(folder, "result.json"))
		}
		return nil, fmt.Errorf("--resume %s: there is no %s; name the folder that was given with --out (default agentconform-out)", folder, File)
	case err != nil:
		return nil, fmt.Errorf("--resume %s: %w", folder, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("--resume %s: %s is not a regular file; run without --resume", folder, path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("--resume %s: %s has %d bytes, more than a journal may have (%d); run without --resume", folder, path, info.Size(), int64(maxFile))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--resume %s: %w", folder, err)
	}
	return file, nil
}

// began is when the last part of the run began.
func (b *Broken) began() time.Time {
	if n := len(b.Resumptions); n > 0 {
		return b.Resumptions[n-1].ResumedAt
	}
	return b.StartedAt
}

// eachLine decodes the lines in their order and returns where the last whole one ends.
func eachLine(file io.Reader, each func(*line) error) (end int64, err error) {
	reader := bufio.NewReaderSize(file, 64<<10)
	for {
		text, err := readLine(reader)
		if errors.Is(err, io.EOF) {
			return end, nil // what is left was cut short
		}
		if err != nil {
			return end, err
		}
		end += int64(len(text))
		var l line
		if reports.Elements(text) > maxElements || json.NewDecoder(bytes.NewReader(text)).Decode(&l) != nil {
			return end, each(&line{}) // counts it, and refuses it
		}
		if err := each(&l); err != nil {
			return end, err
		}
	}
}

var errLong = fmt.Errorf("it is longer than %d bytes", maxLine)

// readLine returns a line with its line feed. The error is io.EOF where there is none.
func readLine(reader *bufio.Reader) (text []byte, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		if len(text)+len(part) > maxLine {
			return nil, errLong
		}
		text = append(text, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

// Exchanges gives what the run has observed, in its order. The exchanges of fixtures, and of scenarios that had not ended, are not
// those of this part: their names say so.
func (b *Broken) Exchanges(take func(*evidence.Observed) error) error {
	file, err := open(b.folder)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	return b.exchangesIn(file, take)
}

func (b *Broken) exchangesIn(journal io.Reader, take func(*evidence.Observed) error) error {
	part := 1
	_, err := eachLine(io.LimitReader(journal, b.end), func(l *line) error {
		switch {
		case l.Resumed != nil:
			part++
		case l.Exchange != nil:
			l.Exchange.Exchange.Scenario = b.attribution(l.Exchange.Exchange.Scenario, part)
			return take(l.Exchange)
		}
		return nil
	})
	return err
}

// attribution is the name under which the exchanges of a part of the run are recorded.
func (b *Broken) attribution(name string, part int) string {
	switch ended, known := b.parts[name]; {
	case known && ended == part:
		return name
	case known || b.isScenario(name):
		return name + interrupted
	}
	return ofPart(name, part)
}

// interrupted ends the name of a scenario whose verdict is of another execution.
const interrupted = " (interrupted)"

// ofPart is the name of a fixture of an earlier part of the run.
func ofPart(name string, part int) string { return fmt.Sprintf("%s (part %d)", name, part) }
