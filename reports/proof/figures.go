package proof

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// The marks between which a page shows the figures of the last proof.
const (
	begin = "<!-- proof: figures written by agentconform prove --readme -->"
	end   = "<!-- proof: end -->"
)

var errNoPlace = errors.New("the page has no place for the figures: put the line " + begin + " and the line " + end + " where they belong")

// Renew replaces the figures in a page.
func Renew(page []byte, f Figures) ([]byte, error) {
	before, _, after, err := split(page)
	if err != nil {
		return nil, err
	}
	return []byte(before + begin + "\n" + f.String() + ".\n" + end + after), nil
}

// Shown reads the figures that a page shows.
func Shown(page []byte) (Figures, error) {
	_, shown, _, err := split(page)
	if err != nil {
		return Figures{}, err
	}
	var f Figures
	if _, err := fmt.Sscanf(strings.TrimSpace(shown), sentence+".", &f.Requirements, &f.Caught, &f.Faults, &f.MedianRadius, &f.WidestRadius,
		&f.Green, &f.Variations, &f.Unmasked, &f.Impostors); err != nil {
		return Figures{}, fmt.Errorf("the page shows no figures of a proof: %w", err)
	}
	return f, nil
}

func split(page []byte) (before, shown, after string, err error) {
	b, rest, found := bytes.Cut(page, []byte(begin))
	s, a, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		return "", "", "", errNoPlace
	}
	return string(b), string(s), string(a), nil
}

// sentence is what the figures say.
const (
	sentence          = "%d requirements; " + faultSentence + "; " + variationSentence + "; " + impostorSentence
	faultSentence     = "%d of %d deliberate faults caught by the requirement they break, each turning %d requirement red in the median (%d at most)"
	variationSentence = "%d of %d harmless variations pass"
	impostorSentence  = "%d of %d servers that are no implementation at all are never conformant"
)

// part is the sentence without what was not tried.
func (f Figures) part() string {
	var parts []string
	if f.Faults > 0 {
		parts = append(parts, fmt.Sprintf(faultSentence, f.Caught, f.Faults, f.MedianRadius, f.WidestRadius))
	}
	if f.Variations > 0 {
		parts = append(parts, fmt.Sprintf(variationSentence, f.Green, f.Variations))
	}
	if f.Impostors > 0 {
		parts = append(parts, fmt.Sprintf(impostorSentence, f.Unmasked, f.Impostors))
	}
	if parts == nil {
		return "no fault and no variation was tried"
	}
	return strings.Join(parts, "; ")
}

// String puts the figures into one sentence, the one that the README shows.
func (f Figures) String() string {
	return fmt.Sprintf(sentence, f.Requirements, f.Caught, f.Faults, f.MedianRadius, f.WidestRadius, f.Green, f.Variations, f.Unmasked, f.Impostors)
}
