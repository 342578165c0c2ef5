package overview_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

func TestCleanup(t *testing.T) {
	removed := reports.LedgerEntry{Kind: "deployment", ID: "1", Removed: true}
	remaining := reports.LedgerEntry{Kind: "thread", ID: "2", Reason: "DELETE: status 405"}
	unremovable := remaining
	unremovable.Unremovable = true
	for name, c := range map[string]struct {
		ledger     []reports.LedgerEntry
		remaining  int
		hasCommand bool
	}{
		"nothing created": {nil, 0, false},
		"all removed":     {[]reports.LedgerEntry{removed}, 0, false},
		"some remain":     {[]reports.LedgerEntry{removed, remaining}, 1, true},
		"unremovable":     {[]reports.LedgerEntry{unremovable}, 1, false},
		"only a run":      {[]reports.LedgerEntry{{Kind: "run", ID: "3"}}, 1, false},
	} {
		cleanup := overview.Of(&reports.Result{Ledger: c.ledger}).Cleanup("out")
		assert.Len(t, cleanup.Remaining, c.remaining, name)
		assert.Equal(t, c.hasCommand, cleanup.Command != "", name)
		assert.Equal(t, c.remaining > 0, cleanup.NotRemoved != "", name)
	}
}
