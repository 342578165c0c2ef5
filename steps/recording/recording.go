// Package recording reads HTTP archives (HAR 1.2) of other programs, such as browsers and proxies, and of this one. It
// adds their exchanges to the record of a target. The third phase of a test run judges them like its own exchanges.
//
// Start with [Open], which reads the whole archive once and keeps only the place and the times of each entry, because an
// archive may be much larger than memory. [Recording.Play] reads the entries again in the order in which they ended.
//
// An archive may come from anywhere. It determines neither addresses nor credentials, and nothing is sent.
package recording

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Limits of an archive.
const (
	maxEntry   = 32 << 20  // bytes of one entry, and of other data between two entries
	maxEntries = 1_000_000 // their places take 64 MB
)

// Creator is the name of this program in the archives that it writes. Only these have names in place of secrets.
const Creator = "agentconform"

// Recording is an archive with at least one entry.
type Recording struct {
	Name string // of the file

	source io.ReaderAt
	close  func() error
	own    bool    // this program wrote it
	places []place // in the order in which the exchanges ended
}

// place is the location of an entry in the archive, with the times of its exchange.
type place struct {
	offset      int64
	size        int
	sent, ended time.Time
}

// Open opens the file of an archive. The error contains the reason why the file is not an archive.
func Open(path string) (*Recording, error) {
	info, err := os.Stat(path) // opening a FIFO would wait for a writer
	if err != nil {
		return nil, fmt.Errorf("reading a recording: %w; name a HAR file", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading %s: not a regular file; name a HAR file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a recording: %w", err)
	}
	r, err := Read(file, info.Size())
	if err != nil {
		_ = file.Close() // the file was only read
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	r.Name = path
	r.close = file.Close
	return r, nil
}

// Close closes the file.
func (r *Recording) Close() error {
	if r.close == nil {
		return nil
	}
	return r.close()
}

// errNotHAR is the error of a file that is not an archive.
var errNotHAR = errors.New("not a HAR file: it must be a JSON object with log.entries")

// errMore is the error of a file with more than one JSON value.
var errMore = errors.New("the HAR file has more text after its end: judge each recording in a separate file")

// compressions are the first bytes of compressed files, each with the name of the program that decompresses them.
var compressions = map[string]string{"\x1f\x8b": "gunzip", "PK\x03\x04": "unzip", "\x28\xb5\x2f\xfd": "unzstd"}

// checkPlain refuses a compressed file.
func checkPlain(source io.ReaderAt) error {
	for magic, program := range compressions {
		first := make([]byte, len(magic))
		n, _ := source.ReadAt(first, 0)
		if string(first[:n]) == magic {
			return fmt.Errorf("the file is compressed: decompress it with %s first", program)
		}
	}
	return nil
}

// Read reads an archive with the given size in bytes.
func Read(source io.ReaderAt, size int64) (*Recording, error) {
	if err := checkPlain(source); err != nil {
		return nil, err
	}
	r := &Recording{source: source}
	s := &scanner{recording: r, resolution: time.Second}
	s.input = &bounded{from: io.NewSectionReader(source, 0, size), left: maxEntry}
	mark := make([]byte, len(byteOrderMark))
	if n, _ := source.ReadAt(mark, 0); n == len(mark) && bytes.Equal(mark, byteOrderMark) {
		s.start = int64(n)
		s.input.from = io.NewSectionReader(source, s.start, size-s.start)
	}
	s.decoder = json.NewDecoder(s.input)
	if err := s.document(); err != nil {
		return nil, s.explain(err)
	}
	if len(r.places) == 0 {
		return nil, errors.New("the HAR file has no entries: nothing was recorded")
	}
	r.extend(s.resolution)
	r.settleTimes(s.untimed)
	slices.SortStableFunc(r.places, func(a, b place) int { return a.ended.Compare(b.ended) })
	return r, nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// bounded is a reader that fails after too many bytes without an entry.
type bounded struct {
	from io.Reader
	left int
}

var errTooLarge = fmt.Errorf("it is larger than %d MB", maxEntry>>20)

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// scanner finds the entries of an archive.
type scanner struct {
	recording *Recording
	input     *bounded
	decoder   *json.Decoder
	start     int64 // offset of the first byte that the decoder reads
	found     bool  // log.entries
	untimed   []int // indices of entries without a time, or without a duration

	resolution time.Duration // of the times of all entries
}

// document reads the whole archive.
func (s *scanner) document() error {
	err := s.members(func(name string) error {
		if name != "log" {
			return s.skip()
		}
		return s.members(func(name string) error {
			switch name {
			case "entries":
				return s.entries()
			case "creator":
				return s.creator()
			}
			return s.skip()
		})
	})
	if err == nil && !s.found {
		return errNotHAR
	}
	if err == nil && s.decoder.More() { // such as a second archive, which would otherwise be ignored without a message
		return errMore
	}
	return err
}

// members reads an object, and calls read for each member, which must read its value.
func (s *scanner) members(read func(name string) error) error {
	if err := s.delimiter('{'); err != nil {
		return err
	}
	for s.decoder.More() {
		name, err := s.decoder.Token()
		if err != nil {
			return err
		}
		text, _ := name.(string) // the decoder accepts no other names
		if err := read(text); err != nil {
			return err
		}
	}
	_, err := s.decoder.Token()
	return err
}

func (s *scanner) delimiter(want json.Delim) error {
	token, err := s.decoder.Token()
	if err == nil && token != want {
		return errNotHAR
	}
	return err
}

func (s *scanner) skip() error {
	var value json.RawMessage
	return s.decoder.Decode(&value)
}

func (s *scanner) creator() error {
	var value json.RawMessage
	if err := s.decoder.Decode(&value); err != nil {
		return err
	}
	var creator struct{ Name string }
	isObject := json.Unmarshal(value, &creator) == nil
	s.recording.own = isObject && creator.Name == Creator
	return nil
}

func (s *scanner) entries() error {
	s.found = true
	if err := s.delimiter('['); err != nil {
		return err
	}
	var raw json.RawMessage
	for s.decoder.More() {
		raw = raw[:0]
		if err := s.decoder.Decode(&raw); err != nil {
			return err
		}
		if len(s.recording.places) == maxEntries {
			return fmt.Errorf("it has more than %d entries; split it", maxEntries)
		}
		end := s.start + s.decoder.InputOffset()
		s.add(place{offset: end - int64(len(raw)), size: len(raw)}, raw)
		s.input.left = maxEntry
	}
	_, err := s.decoder.Token()
	return err
}

// add adds the place of an entry with its times.
func (s *scanner) add(p place, text []byte) {
	sent, took, isTimed := timesOf(text)
	p.sent, p.ended = sent, sent.Add(took)
	if !sent.IsZero() {
		s.resolution = resolutionOf(text, s.resolution)
	}
	if !isTimed {
		s.untimed = append(s.untimed, len(s.recording.places))
	}
	s.recording.places = append(s.recording.places, p)
}

// explain returns an error that describes the damage of an archive and names the damaged entry.
func (s *scanner) explain(err error) error {
	at := ""
	if s.found {
		at = fmt.Sprintf(" in entry %d", len(s.recording.places)+1)
	}
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, errNotHAR), errors.Is(err, errMore):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		if !s.found {
			return errNotHAR
		}
		return fmt.Errorf("the HAR file ends%s: it was cut, record or export it again", at)
	case errors.Is(err, errTooLarge) && !s.found:
		return errNotHAR
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("cannot read the HAR file%s: %w; remove that entry", at, err)
	case errors.As(err, &syntax) && !s.found:
		return errNotHAR
	}
	return fmt.Errorf("cannot read the HAR file%s: %w", at, err)
}

// extend delays the ends of all exchanges by the resolution of their times if it is coarser than a millisecond. The
// programs that wrote the times truncated them, so an exchange may have ended later, and two exchanges in the same second
// may have overlapped.
func (r *Recording) extend(resolution time.Duration) {
	for i := range r.places {
		p := &r.places[i]
		if resolution > time.Millisecond && !p.sent.IsZero() {
			p.ended = p.ended.Add(resolution)
		}
	}
}

// settleTimes sets the times of entries without a time or a duration to the whole time of the recording, because they may
// have happened at any time in it.
func (r *Recording) settleTimes(untimed []int) {
	isUntimed := map[int]bool{}
	for _, i := range untimed {
		isUntimed[i] = true
	}
	first, last := time.Unix(0, 0), time.Unix(0, 0)
	isFirst := true
	for _, p := range r.places {
		if p.sent.IsZero() {
			continue
		}
		if isFirst || p.sent.Before(first) {
			first = p.sent
		}
		if isFirst || p.ended.After(last) {
			last = p.ended
		}
		isFirst = false
	}
	for i := range r.places {
		p := &r.places[i]
		if !isUntimed[i] {
			continue
		}
		if p.sent.IsZero() {
			p.sent = first
		}
		p.ended = last
	}
}

// readEntry is an entry, or the error of reading it.
type readEntry struct {
	Entry
	index int // of its place
	err   error
}

// readAhead is the number of entries that are read while others are judged.
const readAhead = 8

// entries reads the entries in their order, until the context ends or the first error.
func (r *Recording) entries(ctx context.Context, restore *strings.Replacer) <-chan readEntry {
	all := make(chan readEntry, readAhead)
	go func() {
		defer close(all)
		buffer := make([]byte, 0, 4096)
		for i, p := range r.places {
			buffer = slices.Grow(buffer[:0], p.size)[:p.size]
			e, err := r.entry(p, buffer, restore)
			select {
			case all <- readEntry{e, i, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return all
}

// entry reads an entry again into text, which has the size of the entry. If this program wrote the archive, restore
// replaces the names of secrets.
func (r *Recording) entry(p place, text []byte, restore *strings.Replacer) (Entry, error) {
	if _, err := r.source.ReadAt(text, p.offset); err != nil {
		return Entry{}, fmt.Errorf("reading the recording again: %w", err)
	}
	e := entryOf(string(text))
	if r.own {
		e.restore(restore)
	}
	e.Sent, e.Took = p.sent, p.ended.Sub(p.sent)
	return e, nil
}

// Span returns the beginning of the first exchange of the recording and the end of the last.
func (r *Recording) Span() (first, last time.Time) {
	first = r.places[0].sent
	for _, p := range r.places {
		if p.sent.Before(first) {
			first = p.sent
		}
	}
	return first, r.places[len(r.places)-1].ended
}
