package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestHold(t *testing.T) {
	p := &Pace{}
	assert.Equal(t, MinHold, p.Hold(0))
	assert.Equal(t, 4*MinHold, p.Hold(2))
	for range 9 {
		p.Answered(80 * time.Millisecond)
	}
	assert.Equal(t, 960*time.Millisecond, p.Hold(0), "many times what an answer takes")
	assert.Equal(t, 240*time.Millisecond, p.Slack())
	for range 23 {
		p.Answered(time.Millisecond)
	}
	assert.Equal(t, 960*time.Millisecond, p.Hold(0), "more than one of four is as slow")
	p.Answered(time.Millisecond)
	assert.Equal(t, MinHold, p.Hold(0), "fewer are moments in which it was busy")
	assert.Equal(t, 240*time.Millisecond, p.Slack(), "but things may happen as late")
	for range 32 {
		p.Answered(time.Millisecond)
	}
	assert.Equal(t, 50*time.Millisecond, p.Slack(), "slowness of long ago is forgotten")
	p.Turned(time.Second)
	assert.Equal(t, 3*time.Second, p.Hold(0))
	assert.Equal(t, MaxHold, p.Hold(2))
}
