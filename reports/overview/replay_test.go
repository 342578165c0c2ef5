package overview_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

func TestReplayCommand(t *testing.T) {
	for command, want := range map[string]string{
		"agentconform run --config vendor.yaml":                "agentconform replay 3f2a --config vendor.yaml",
		"agentconform run --only CP-* --config=v.yaml --out o": "agentconform replay 3f2a --config v.yaml --result o/result.json",
		"agentconform run --target http://h:1/p --strict":      "agentconform replay 3f2a --target http://h:1/p",
		"agentconform run":                                  "agentconform replay 3f2a --config FILE",
		"agentconform run --config":                         "agentconform replay 3f2a --config FILE",
		"agentconform run --config $(reboot)":               "agentconform replay 3f2a --config FILE",
		"agentconform run --config=a;reboot --out `reboot`": "agentconform replay 3f2a --config FILE",
	} {
		r := &reports.Result{Run: reports.Run{Command: command}}
		assert.Equal(t, want, overview.ReplayCommand(r, &reports.Finding{ID: "3f2a"}), command)
	}
	assert.Empty(t, overview.ReplayCommand(&reports.Result{}, &reports.Finding{ID: "$(reboot)"}))
}
