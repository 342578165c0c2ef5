package features

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/spec"
)

// TestEachCellHasOneCase compares cases.yaml with the contract and the features.
func TestEachCellHasOneCase(t *testing.T) {
	c, err := Load()
	require.NoError(t, err)
	cells, err := spec.Cells()
	require.NoError(t, err)
	cases, err := Cases(c, cells)
	require.NoError(t, err)
	assert.Len(t, cases, len(cells))
}

func TestCasesRefusesAWrongTable(t *testing.T) {
	c, err := Load()
	require.NoError(t, err)
	cells := [][3]string{{"list-revisions", "query limit", "empty"}, {"list-revisions", "query limit", "at a bound"}}
	const bound, empty = `[.*, query limit, at a bound, CP-LIST-2, "Limit 1 "]`, `[.*, query .*, empty, "not sent"]`
	for _, test := range []struct{ rows, wrong string }{
		{bound + ", " + empty, ""},
		{bound, `["list-revisions" "query limit" "empty"] has 0 rows, want 1`},
		{bound + ", " + empty + `, [.*, .*, empty, "open"]`, `["list-revisions" "query limit" "empty"] has 2 rows, want 1`},
		{bound + ", " + empty + `, [get-run, .*, empty, "open"]`, `row ["get-run" ".*" "empty" "open"] matches no cell`},
		{bound + ", [.*, .*, empty, CP-NONE-1, The]", `"CP-NONE-1" "The"] names no scenario for ["list-revisions"`},
		{bound + ", [.*, .*, empty, CP-LIST-3, Something]", `"CP-LIST-3" "Something"] names no scenario`},
		{bound + `, [.*, empty, "open"]`, `row [".*" "empty" "open"]: expected three patterns`},
		{bound + `, [".*(", .*, empty, "open"]`, "missing closing )"},
	} {
		cases, err := casesOf(c, []byte("rows: ["+test.rows+"]"), cells)
		if test.wrong != "" {
			assert.ErrorContains(t, err, test.wrong)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, "not sent", cases[0].Reason)
		assert.Equal(t, []string{"Limit 1 returns that many revisions, or all of them"}, cases[1].Scenarios)
	}
}
