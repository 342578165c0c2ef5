//go:build nightly

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reference/faults"
)

// TestWhatARunHasSeenIsJudgedForEachFault stops runs with each fault of which the contract or the status of a server
// error tells.
func TestWhatARunHasSeenIsJudgedForEachFault(t *testing.T) {
	t.Parallel()
	c := newTrial(t)
	tried := 0
	for _, f := range faults.All() {
		isStatus := f.Name == "success-has-another-name" || f.Name == "begins-as-pending"
		if isError(f) || isStatus || strings.Contains(f.Fails, "-CONTRACT-") {
			tried++
			c.judgesWhatItSees(t, f)
		}
	}
	assert.Greater(t, tried, 30)
}
