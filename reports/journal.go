package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"
	"unicode/utf8"
)

// Journal keeps exchanges in a file and only their places in memory, so that a run of many thousands needs no
// more memory than one of a few. The file holds nothing that outlives the run: it is removed by Close, and where
// the system allows, it loses its name at once, so that a killed run leaves nothing either.
type Journal struct {
	file *os.File

	mu     sync.RWMutex
	index  []span // by id - 1
	end    int64
	closed bool
}

// span is the place of one encoded exchange in a file.
type span struct {
	offset int64
	length int
	body   int // of these bytes, how many at the end are the body of the answer as it is
}

// NewJournal opens a journal in dir; with an empty dir, in the system's folder for temporary files.
func NewJournal(dir string) (*Journal, error) {
	file, err := os.CreateTemp(dir, ".agentconform-exchanges-*")
	if err != nil {
		return nil, fmt.Errorf("opening the journal of exchanges: %w (is the folder there, and may it be written to?)", err)
	}
	// Some systems refuse to remove an open file; Close does it there.
	_ = os.Remove(file.Name())
	return &Journal{file: file}, nil
}

// Append writes x, cut to the bounds of evidence, and returns its id. The body of the answer is written as it is: each report reads all of
// them, and to decode them takes longer than anything else does. Only the reservation of the place is done
// under the lock: encoding and writing go on side by side.
func (j *Journal) Append(x Exchange) (int, error) {
	x = Bounded(x)
	body := x.Response.Body
	x.Response.Body = ""
	if !utf8.ValidString(body) {
		body = string([]rune(body)) // as JSON would: a replacement for each byte that is no text
	}
	line, err := encodeExchange(x)
	if err != nil {
		return 0, err
	}
	line = append(line, body...)
	id, place, err := j.reserve(len(line), len(body))
	if err != nil {
		return 0, err
	}
	if _, err := j.file.WriteAt(line, place.offset); err != nil {
		return 0, fmt.Errorf("writing exchange %d to the journal %s: %w (is the disk full?)", id, j.file.Name(), err)
	}
	return id, nil
}

func (j *Journal) reserve(length, body int) (int, span, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return 0, span{}, errors.New("the journal of exchanges is closed: nothing can be recorded any more")
	}
	place := span{j.end, length, body}
	j.index = append(j.index, place)
	j.end += int64(length)
	return len(j.index), place, nil
}

// Len returns the number of exchanges.
func (j *Journal) Len() int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return len(j.index)
}

// Get reads the exchange with this id. It must not be called for an exchange whose Append has not returned.
func (j *Journal) Get(id int) (Exchange, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.closed {
		return Exchange{}, fmt.Errorf("reading exchange %d: the journal is closed", id)
	}
	if id < 1 || id > len(j.index) {
		return Exchange{}, noSuchExchange(id, len(j.index))
	}
	return readExchange(j.file, j.index[id-1], id)
}

// All gives the exchanges in order of id, one in memory at a time.
func (j *Journal) All() iter.Seq2[Exchange, error] { return allOf(j) }

// Renumber gives the exchanges new ids; see [Recorder]. Only the index changes.
func (j *Journal) Renumber(order []int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	index, err := reordered(j.index, order)
	if err != nil {
		return err
	}
	j.index = index
	return nil
}

// Close removes the file. A second call does nothing.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed, j.index = true, nil
	name := j.file.Name()
	if err := j.file.Close(); err != nil {
		return fmt.Errorf("closing the journal of exchanges: %w", err)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing the journal of exchanges: %w", err)
	}
	return nil
}

// readerAt is what a stored exchange is read from.
type readerAt interface {
	ReadAt(p []byte, off int64) (int, error)
}

// readExchange decodes the exchange at a place. The id is that of the index: the stored one is of no meaning.
func readExchange(from readerAt, place span, id int) (Exchange, error) {
	doc := make([]byte, place.length)
	if _, err := from.ReadAt(doc, place.offset); err != nil {
		return Exchange{}, fmt.Errorf("reading exchange %d: %w", id, err)
	}
	var x Exchange
	line, body := doc[:place.length-place.body], doc[place.length-place.body:]
	if err := json.Unmarshal(line, &x); err != nil {
		return Exchange{}, fmt.Errorf("decoding exchange %d: %w", id, err)
	}
	if len(body) > 0 {
		x.Response.Body = string(body)
	}
	x.ID = id
	return x, nil
}

// encodeExchange writes x as one line of JSON in which <, > and & stay readable.
func encodeExchange(x Exchange) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return nil, fmt.Errorf("encoding an exchange (%s %s): %w", x.Method, x.URL, err)
	}
	return b.Bytes(), nil
}
