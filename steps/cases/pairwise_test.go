package cases_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/agentconform/agentconform/steps/cases"
)

func TestEachPairOfValuesIsInARow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 6), 2, 5).Draw(t, "sizes")
		rows, product := cases.Pairwise(sizes...), 1
		for p, size := range sizes {
			product *= size
			for q := p + 1; q < len(sizes); q++ {
				seen := map[[2]int]bool{}
				for _, row := range rows {
					require.Len(t, row, len(sizes))
					require.Less(t, row[p], size)
					seen[[2]int{row[p], row[q]}] = true
				}
				assert.Len(t, seen, size*sizes[q], "parameters %d and %d", p, q)
			}
		}
		assert.LessOrEqual(t, len(rows), product)
	})
}
