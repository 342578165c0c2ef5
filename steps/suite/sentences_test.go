package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
)

// TestEverySentenceHasOneDefinition wants each sentence of the features to have exactly one meaning, of its own kind, and each
// definition to be used.
func TestEverySentenceHasOneDefinition(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	c := config.Default()
	all := Foresee(&c, catalogue, Selection{}).Sentences.All()
	require.Greater(t, len(all), 150)
	used := map[*common.Definition]bool{}
	for _, s := range catalogue.Scenarios() {
		kind := common.Given
		for _, step := range s.Steps {
			switch k := common.Kind(step.Keyword); k {
			case common.Given, common.When, common.Then:
				kind = k
			}
			n := 0
			for _, d := range all {
				if d.Defines(kind, step.Text) {
					used[d] = true
					n++
				}
			}
			assert.Equal(t, 1, n, "%s: %s %s", s.Key(), kind, step.Text)
		}
	}
	for _, d := range all {
		assert.True(t, used[d], "no feature says %q", d.Pattern)
	}
}
