package overview_test

import (
	"strings"
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
		"agentconform run":          "agentconform replay 3f2a --config FILE",
		"agentconform run --config": "agentconform replay 3f2a --config FILE",
	} {
		r := &reports.Result{Run: reports.Run{Arguments: strings.Fields(command)[1:]}}
		assert.Equal(t, want, overview.ReplayCommand(r, &reports.Finding{ID: "3f2a"}), command)
	}
	assert.Empty(t, overview.ReplayCommand(&reports.Result{}, &reports.Finding{ID: "$(reboot)"}))
}

func TestReplayCommandOfTypedArguments(t *testing.T) {
	for want, arguments := range map[string][]string{
		"agentconform replay 3f2a --config 'my vendor.yaml'":                       {"run", "--config", "my vendor.yaml"},
		"agentconform replay 3f2a --config 'a;reboot' --result '$(o)/result.json'": {"run", "--config=a;reboot", "--out", "$(o)"},
		"agentconform replay 3f2a --target http://h:1/p":                           {"run", "--only", "CP-LIST-*", "--target", "http://h:1/p"},
		"agentconform replay 3f2a --config FILE":                                   {"run", "--config", "a\x1b[31m"},
	} {
		r := &reports.Result{Run: reports.Run{Command: "agentconform run --config other.yaml", Arguments: arguments}}
		assert.Equal(t, want, overview.ReplayCommand(r, &reports.Finding{ID: "3f2a"}))
	}
}
