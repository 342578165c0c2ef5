package recording

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDotSegments checks that a request with a dot segment in its path does not count as valid, because a router may
// answer it before authentication.
func TestDotSegments(t *testing.T) {
	t.Parallel()
	for segment, isWrong := range map[string]bool{thread: false, "%2e%2e": true, "..": true, "%2E.": true, ".": true, "...": false, "%zz": false} {
		assert.Equal(t, isWrong, hasDotSegment("/threads/"+segment+"/state"), segment)
	}
	all, _ := play(t, targetOf(t, nil), entryFor("GET", agentURL+"/threads/%2e%2e/state", `{"detail":"Not Found"}`, object{"response.status": 404}))
	require.Len(t, all, 1)
	assert.True(t, all[0].Wrong)
}
