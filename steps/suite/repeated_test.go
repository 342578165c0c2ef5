package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/outcome"
)

func TestRepeatedRequestDoesNotExcuseLeaks(t *testing.T) {
	for name, c := range map[string]struct {
		subject string
		kind    outcome.Kind
		isLeak  bool
	}{
		"another user is served":            {"isolation", outcome.Accepted, true},
		"another user's text is shown":      {"isolation", outcome.Leak, true},
		"a wrong token is served":           {"security", outcome.Accepted, true},
		"a thread holds a message twice":    {"isolation", outcome.ExtraItem, false},
		"a thread lacks a message":          {"security", outcome.MissingItem, false},
		"a list of revisions is too long":   {"lists", outcome.ExtraItem, false},
		"an invalid parameter is accepted":  {"lists", outcome.Accepted, false},
		"a failure of a run without a kind": {"runs", "", false},
	} {
		o := outcome.Fails(nil, outcome.Violation{Kind: c.kind})
		assert.Equal(t, c.isLeak, isLeak(&features.Requirement{Subject: c.subject}, o), name)
	}
}
