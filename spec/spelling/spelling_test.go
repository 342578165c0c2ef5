package spelling

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNearest(t *testing.T) {
	known := []string{"poll", "run", "request"}
	assert.Equal(t, "poll", Nearest("pol", known))
	assert.Equal(t, "request", Nearest("reqests", known))
	assert.Empty(t, Nearest("deployment", known))
	assert.Empty(t, Nearest("", known), "three edits are too many")
}
