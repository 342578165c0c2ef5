package proof

import (
	"bytes"
	"errors"
)

// The marks between which a page shows the figures of the last proof.
const (
	begin = "<!-- proof: figures written by agentconform prove --readme -->"
	end   = "<!-- proof: end -->"
)

// Renew replaces the figures in a page.
func Renew(page []byte, f Figures) ([]byte, error) {
	before, rest, found := bytes.Cut(page, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		return nil, errors.New("the page has no place for the figures: put the line " + begin + " and the line " + end + " where they belong")
	}
	return bytes.Join([][]byte{before, []byte(begin + "\n" + f.String() + ".\n" + end), after}, nil), nil
}
