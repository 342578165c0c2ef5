package spelling

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"poll", "", 4}, {"", "run", 3}, {"poll", "poll", 0}, {"pol", "poll", 1}, {"timeout", "timeouts", 1}, {"users", "uesrs", 2}, {"key", "target", 5}} {
		assert.Equal(t, c.want, distance(c.a, c.b), "%q %q", c.a, c.b)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"poll", "run", "request"}
	assert.Equal(t, "poll", Nearest("pol", known))
	assert.Equal(t, "request", Nearest("reqests", known))
	assert.Empty(t, Nearest("deployment", known))
	assert.Empty(t, Nearest("", known), "three edits are too many")
}
