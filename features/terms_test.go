package features

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTerms(t *testing.T) {
	var got Terms
	for _, tag := range []string{"@needs:a|b.c", "@needs:d=true", "@anonymous", "@shares:history", "@shares:agent-server", "@reads:revisions=21",
		"@reads:settled=2", "@creates:1/2", "@writes", "@record"} {
		known, err := got.take(tag)
		require.NoError(t, err, tag)
		assert.True(t, known, tag)
	}
	assert.Equal(t, Terms{Needs: [][]string{{"a", "b.c"}, {"d=true"}}, Anonymous: true, Shares: []string{"history", "agent-server"},
		Reads: &Reads{Revisions: 21, Settled: 2}, Deployments: 1, Revisions: 2, Writes: true, Record: true}, got)
	for tag, reads := range map[string]Reads{"@reads": {Deployments: 1}, "@reads:0": {}, "@reads:2": {Deployments: 2}} {
		var got Terms
		_, err := got.take(tag)
		require.NoError(t, err, tag)
		assert.Equal(t, &reads, got.Reads, tag)
	}
	for _, tag := range []string{"@reads:one", "@reads:1/2", "@reads:", "@creates", "@creates:revisions=1", "@shares", "@needs:d=e", "@needs:"} {
		known, err := (&Terms{}).take(tag)
		assert.True(t, known, tag)
		assert.Error(t, err, tag)
	}
	for _, tag := range []string{"@must", "@writes:1"} {
		known, err := (&Terms{}).take(tag)
		assert.False(t, known, tag)
		assert.NoError(t, err, tag)
	}
}
