package features

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExtractKeepsSelectedScenariosAndTheirLines(t *testing.T) {
	all, err := Load()
	require.NoError(t, err)
	want := map[string]int{}
	for _, f := range all.Files {
		for i, s := range f.Scenarios {
			if i%7 != 3 {
				continue
			}
			extract := f.Extract([]*Scenario{s})
			require.Less(t, len(extract), len(f.Content), f.URI)
			c := &Catalogue{}
			require.NoError(t, c.add(f.URI, extract), s.Key())
			want[s.Key()] = 0
			for _, kept := range c.Scenarios() {
				assert.Equal(t, s.Requirement.ID, kept.Requirement.ID)
				if kept.Name == s.Name {
					assert.Equal(t, s.Line, kept.Line)
					want[s.Key()]++
				}
			}
			assert.Equal(t, 1, want[s.Key()], s.Key())
		}
	}
}
