package suite

import (
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/target"
)

// notes are what is no failure and what a user wants to know all the same.
func (r *run) notes() []reports.Note {
	all := r.target.Notes()
	if own := r.target.Collector.OwnToken(); own.Answers > 0 {
		all = append(all, reports.Note{Kind: reports.NoteOwnToken, Count: own.Answers, Exchange: own.Exchange, Pointer: own.Pointer,
			Text: "the answer contains the caller's own token in clear"})
	}
	entries := r.target.Ledger.Entries()
	if found, remedy := r.target.Unfetched(); found != "" && slices.ContainsFunc(entries, func(e reports.LedgerEntry) bool { return e.Kind == "deployment" }) {
		all = append(all, reports.Note{Kind: reports.NoteFixtures, Text: r.target.Redact.Excerpt(found + ": the target's builder does not reach them, or does not build from them; " + remedy)})
	}
	for _, e := range entries {
		if e.Unremovable && e.Kind == evidence.Thread {
			all = append(all, reports.Note{Kind: reports.NoteRemoval, Text: r.target.Redact.Excerpt("the agent server does not remove threads, those of this run stay: " + e.Reason)})
			break
		}
	}
	return all
}

// redacted is an entry of the ledger as it is reported.
func redacted(t *target.Target, e reports.LedgerEntry) reports.LedgerEntry {
	for _, text := range []*string{&e.ID, &e.Thread, &e.Deployment, &e.Address, &e.Reason} {
		*text = t.Redact.Text(*text)
	}
	return e
}
