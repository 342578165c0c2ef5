package spec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCellsAreDerivedFromTheDocuments(t *testing.T) {
	cells, err := Cells()
	require.NoError(t, err)
	for _, cell := range [][3]string{
		{"list-revisions", "query limit", "bounds"},
		{"list-revisions", "query status", "an item twice"},
		{"list-revisions", "query remote_reconciled", "not a boolean"},
		{"get-run", "path run_id", "of another kind"},
		{"create-deployment", "body.source", "an unknown value"},
		{"update-deployment", "body.source_revision_config", "pairs of its fields"},
		{"update-deployment", "body.source_revision_config.repo_commit_sha", "a value"},
		{"create-run", "body.input.messages.content", "texts"},
		{"get-revision", "moment", "during a build"},
		{"create-run", "after a refusal during a build or run", "of its body"},
		{"delete-thread", "credentials", "another caller's"},
	} {
		assert.Contains(t, cells, cell)
	}
	for _, cell := range [][3]string{
		{"delete-thread", "path thread_id", "unknown"}, // a vendor extension
		{"create-run", "body.input.messages.type", "texts"},
		{"search-threads", "after a refusal", "of its body"}, // it only reads
	} {
		assert.NotContains(t, cells, cell)
	}
	seen := map[[3]string]bool{}
	for _, cell := range cells {
		assert.False(t, seen[cell], cell)
		assert.NotContains(t, cell, "")
		seen[cell] = true
	}
}
