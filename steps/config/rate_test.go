package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRate(t *testing.T) {
	for text, every := range map[string]time.Duration{"": 0, "5/s": 200 * time.Millisecond, "300/m": 200 * time.Millisecond, "60/h": time.Minute, "1/s": time.Second} {
		c := Default()
		c.Rate = text
		require.NoError(t, c.Complete(), text)
		assert.Equal(t, every, c.Every(), text)
	}
	for _, text := range []string{"5", "0/s", "-1/s", "5/d", "5 /s", "/s", "5/", "5/s/s", "1e3/s", "99999999999/s"} {
		c := Default()
		c.Rate = text
		err := c.Complete()
		require.Error(t, err, text)
		assert.ErrorContains(t, err, "rate", text)
		assert.ErrorContains(t, err, `use a number of requests per second, minute or hour, such as 5/s or 300/m`, text)
	}
}
