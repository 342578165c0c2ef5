package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Bounds of what a remote repository sends, beside those of an [Archive].
const (
	largestPack = 2 * largestTree // as it is sent, in bytes, and of all objects together
	mostObjects = 8 * mostFiles   // files, folders and deltas of one commit
)

// bounded is a storage in memory that looks at the sizes of objects before it unpacks any: a pack of a few hundred kilobytes may hold
// gigabytes.
type bounded struct{ *memory.Storage }

func newBounded() bounded { return bounded{memory.NewStorage()} }

// PackfileWriter implements storer.PackfileWriter.
func (b bounded) PackfileWriter() (io.WriteCloser, error) { return &pack{into: b.Storage}, nil }

// pack collects a pack. Close checks and unpacks it.
type pack struct {
	into   *memory.Storage
	packed bytes.Buffer
}

func (p *pack) Write(b []byte) (int, error) {
	if p.packed.Len()+len(b) > largestPack {
		return 0, fmt.Errorf("the repository is too large: it sends more than %d MiB for one commit", largestPack>>20)
	}
	return p.packed.Write(b)
}

func (p *pack) Close() error {
	if p.packed.Len() == 0 {
		return nil
	}
	if err := checkPack(bytes.NewReader(p.packed.Bytes())); err != nil {
		return err
	}
	parser, err := packfile.NewParserWithStorage(packfile.NewScanner(bytes.NewReader(p.packed.Bytes())), p.into)
	if err == nil {
		_, err = parser.Parse()
	}
	if err != nil {
		return fmt.Errorf("unpack the repository: %w", err)
	}
	return nil
}

// checkPack reads the sizes of a pack's objects: each is named before the object, and that of what a delta makes at its start.
func checkPack(r io.Reader) error {
	objects := packfile.NewScanner(r)
	_, count, err := objects.Header()
	if err != nil {
		return fmt.Errorf("unpack the repository: %w", err)
	}
	if count > mostObjects {
		return fmt.Errorf("the repository is too large: its commit has %d objects; the bound is %d", count, mostObjects)
	}
	var all int64
	for range count {
		header, err := objects.NextObjectHeader()
		if err != nil {
			return fmt.Errorf("unpack the repository: %w", err)
		}
		size := header.Length
		if err := checkSize(size, &all); err != nil {
			return err
		}
		delta := header.Type == plumbing.OFSDeltaObject || header.Type == plumbing.REFDeltaObject
		start := &head{}
		if _, _, err := objects.NextObject(start); err != nil {
			return fmt.Errorf("unpack the repository: %w", err)
		}
		if delta {
			if size, err = start.target(); err == nil {
				err = checkSize(size, &all)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func checkSize(size int64, all *int64) error {
	*all += size
	if size < 0 || size > largestFile || *all > largestPack {
		return fmt.Errorf("the repository is too large: the bounds are %d MiB a file and %d MiB in all, unpacked", largestFile>>20, largestPack>>20)
	}
	return nil
}

// head keeps the start of what is written to it.
type head struct {
	text [2 * binary.MaxVarintLen64]byte
	kept int
}

func (h *head) Write(b []byte) (int, error) {
	h.kept += copy(h.text[h.kept:], b)
	return len(b), nil
}

var errDelta = errors.New("unpack the repository: a delta names no sizes")

// target is the size of what a delta makes. It follows that of what it is made from.
func (h *head) target() (int64, error) {
	_, read := binary.Uvarint(h.text[:h.kept])
	if read <= 0 {
		return 0, errDelta
	}
	size, read := binary.Uvarint(h.text[read:h.kept])
	if read <= 0 || size > largestPack {
		return largestPack + 1, nil
	}
	return int64(size), nil
}
