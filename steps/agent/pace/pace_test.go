package pace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestHold(t *testing.T) {
	p := &Pace{}
	assert.Equal(t, MinHold, p.Hold(0))
	assert.Equal(t, 4*MinHold, p.Hold(2))
	p.Answered(80 * time.Millisecond)
	assert.Equal(t, 960*time.Millisecond, p.Hold(0), "many times what an answer takes")
	assert.Equal(t, 240*time.Millisecond, p.Slack())
	for range 32 {
		p.Answered(time.Millisecond)
	}
	assert.Equal(t, MinHold, p.Hold(0), "slowness of long ago is forgotten")
	p.Turned(time.Second)
	assert.Equal(t, 3*time.Second, p.Hold(0))
	assert.Equal(t, MaxHold, p.Hold(2))
}

// TestPaceOfAQueue takes no turnaround for the target's own that may have been spent in its queue.
func TestPaceOfAQueue(t *testing.T) {
	p := &Pace{}
	p.Turned(time.Second)
	hold := p.Hold(0)
	p.HasQueue()
	p.Turned(8 * time.Second)
	assert.Equal(t, hold, p.Hold(0))
	p.Turned(2 * time.Second)
	assert.Equal(t, 2*hold, p.Hold(0))
}
