package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAVariableMayHoldAListWithCommas(t *testing.T) {
	for value, want := range map[string][]string{"paging,filters": {"paging", "filters"}, " paging , filters,": {"paging", "filters"},
		"paging": {"paging"}, `["paging", "filters"]`: {"paging", "filters"}, "- paging\n- filters": {"paging", "filters"}, "": {}} {
		c, err := load(t, valid+"supports: [tags]\n", []string{"AGENTCONFORM_SUPPORTS=" + value}, nil)
		require.NoError(t, err, value)
		assert.Equal(t, want, c.Supports, value)
	}
}

// TestAVariableMayHoldADollarSign checks that only the file is searched for references, since a secret may contain any
// character.
func TestAVariableMayHoldADollarSign(t *testing.T) {
	c, err := load(t, valid, []string{"AGENTCONFORM_CREDENTIALS_API_KEY=${NOT_EXPANDED}"}, nil)
	require.NoError(t, err)
	assert.Equal(t, "${NOT_EXPANDED}", c.Credentials.APIKey)
}
