package suite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/target"
)

func TestLongestChain(t *testing.T) {
	from := func(first, last int) sender {
		return sender{time.Unix(int64(first), 0), time.Unix(int64(last), 0), 2}
	}
	link := func(name string, seconds int) target.Link {
		return target.Link{Name: name, Requests: 2, Took: time.Duration(seconds) * time.Second}
	}
	senders := map[string]sender{
		"deployment": from(0, 3), "thread": from(3, 4), "preflight": from(1, 2), "short": from(0, 5), "long": from(2, 9), "other": from(4, 8),
	}
	needs := map[string][]string{
		"long": {"preflight", "thread", "unused"}, "thread": {"deployment"}, "deployment": {"thread"}, "preflight": {"deployment"},
	}
	scenarios := []string{"short", "long", "other", "silent"}
	chain := longestChain(scenarios, senders, func(name string) []string { return needs[name] })
	assert.Equal(t, []target.Link{link("deployment", 3), link("thread", 1), link("long", 5)}, chain)
	assert.Empty(t, longestChain(scenarios, nil, nil), "no requests")
}
