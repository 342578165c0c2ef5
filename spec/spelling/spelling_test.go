package spelling

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEither(t *testing.T) {
	assert.Equal(t, "a, b or c", Either([]string{"a", "b", "c"}))
	assert.Equal(t, "a or b", Either([]string{"a", "b"}))
	assert.Equal(t, "a", Either([]string{"a"}))
	assert.Empty(t, Either(nil))
}

func TestNearest(t *testing.T) {
	known := []string{"poll", "run", "request"}
	assert.Equal(t, "poll", Nearest("pol", known))
	assert.Equal(t, "request", Nearest("reqests", known))
	assert.Empty(t, Nearest("deployment", known))
	assert.Empty(t, Nearest("", known), "three edits are too many")
}
