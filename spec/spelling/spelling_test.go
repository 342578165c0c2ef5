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
	assert.Equal(t, "limit-101-is-served", Nearest("limit-101-served", []string{"limit-0-is-served", "limit-101-is-served"}))
	assert.Equal(t, "users.0.token", Nearest("token", []string{"target", "users.0.token"}))
}
