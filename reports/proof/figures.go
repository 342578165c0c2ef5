package proof

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// The markers around the figures of the last self-test in a page.
const (
	begin          = "<!-- proof: figures written by agentconform prove --readme -->"
	beginGenerated = "<!-- proof: figures written by agentconform prove --all --readme -->"
	end            = "<!-- proof: end -->"
)

var errNoPlace = errors.New("the page has no markers for the figures: add the line " + begin + " and the line " + end + " where the figures belong")

// Renew replaces the figures in a page; those of generated mutants where all of them were tried and the page has a place for them.
func Renew(page []byte, f Figures) ([]byte, error) {
	before, _, after, err := split(page, begin)
	if err != nil {
		return nil, err
	}
	page = []byte(before + begin + "\n" + f.String() + ".\n" + end + after)
	if before, _, after, err = split(page, beginGenerated); err == nil && f.AllGenerated {
		page = []byte(before + beginGenerated + "\n" + f.Generated.String() + ".\n" + end + after)
	}
	return page, nil
}

// Shown reads the figures in a page.
func Shown(page []byte) (Figures, error) {
	_, shown, _, err := split(page, begin)
	if err != nil {
		return Figures{}, err
	}
	var f Figures
	if _, err := fmt.Sscanf(strings.TrimSpace(shown), sentence+".", &f.Killed, &f.Faults, &f.Requirements, &f.MedianFailures, &f.MaxFailures,
		&f.Conformant, &f.Equivalents, &f.Rejected, &f.Nulls); err != nil {
		return Figures{}, fmt.Errorf("the page has no figures of a self-test between its markers: %w", err)
	}
	return f, nil
}

func split(page []byte, begin string) (before, shown, after string, err error) {
	b, rest, found := bytes.Cut(page, []byte(begin))
	s, a, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		return "", "", "", errNoPlace
	}
	return string(b), string(s), string(a), nil
}

// The summary of the figures.
const (
	sentence           = scoreSentence + " over %d requirements" + failuresSentence + "; " + equivalentSentence + "; " + nullSentence
	scoreSentence      = "mutation score %d/%d"
	failuresSentence   = " (failed requirements per mutant: median %d, maximum %d)"
	equivalentSentence = "equivalent mutants reported conformant: %d/%d"
	nullSentence       = "null implementations rejected: %d/%d"
)

// part is the summary without the kinds that were not run.
func (f Figures) part() string {
	var parts []string
	if f.Faults > 0 {
		parts = append(parts, fmt.Sprintf(scoreSentence+failuresSentence, f.Killed, f.Faults, f.MedianFailures, f.MaxFailures))
	}
	if f.Equivalents > 0 {
		parts = append(parts, fmt.Sprintf(equivalentSentence, f.Conformant, f.Equivalents))
	}
	if f.Nulls > 0 {
		parts = append(parts, fmt.Sprintf(nullSentence, f.Rejected, f.Nulls))
	}
	if f.Generated.All > 0 {
		parts = append(parts, f.Generated.String())
	}
	if parts == nil {
		return "no mutants were run"
	}
	return strings.Join(parts, "; ")
}

// String is the summary in the README.
func (f Figures) String() string {
	return fmt.Sprintf(sentence, f.Killed, f.Faults, f.Requirements, f.MedianFailures, f.MaxFailures, f.Conformant, f.Equivalents, f.Rejected, f.Nulls)
}
