package invariants

import (
	"encoding/binary"
	"strings"
)

// finder finds many texts in a body in one pass. At each position it looks up the preceding longEnough bytes of the body
// among the last bytes of the texts. The first bytes of the texts are less useful, because they are often equal in IDs
// that were created at the same time.
type finder[T any] struct {
	long  map[string][]sought[T] // texts by their last longEnough bytes
	ends  [1 << endBits]bool     // by hashOfEnd of these bytes; most positions of a body are excluded here
	short []sought[T]
}

const endBits = 14

// hashOfEnd returns a hash of the last four bytes of a text.
func hashOfEnd(text string) uint32 {
	const multiplier = 0x9e3779b1 // of multiplicative hashing: 2^32 divided by the golden ratio
	return binary.LittleEndian.Uint32([]byte(text[len(text)-4:])) * multiplier >> (32 - endBits)
}

// sought is a text with the meaning of its presence in a body.
type sought[T any] struct {
	text string
	of   T
}

func (f *finder[T]) add(text string, of T) {
	one := sought[T]{text, of}
	if len(text) < longEnough {
		f.short = append(f.short, one)
		return
	}
	if f.long == nil {
		f.long = map[string][]sought[T]{}
	}
	end := text[len(text)-longEnough:]
	f.long[end] = append(f.long[end], one)
	f.ends[hashOfEnd(end)] = true
}

func (f *finder[T]) addAsJSON(text string, of T) {
	f.add(text, of)
	if escaped := asJSON(text); escaped != text {
		f.add(escaped, of)
	}
}

// in returns the meaning of each text that it finds in the body. The same meaning may occur several times.
func (f *finder[T]) in(body string) (found []T) {
	for end := longEnough; end <= len(body) && len(f.long) > 0; end++ {
		if !f.ends[hashOfEnd(body[:end])] {
			continue
		}
		for _, s := range f.long[body[end-longEnough:end]] {
			if strings.HasSuffix(body[:end], s.text) {
				found = append(found, s.of)
			}
		}
	}
	for _, s := range f.short {
		if strings.Contains(body, s.text) {
			found = append(found, s.of)
		}
	}
	return found
}
