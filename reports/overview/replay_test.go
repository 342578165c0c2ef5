package overview_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

func TestReplayCommand(t *testing.T) {
	for _, c := range []struct{ arguments, want string }{ // separated by "|"
		{"run|--config|vendor.yaml", "agentconform replay 3f2a --config vendor.yaml"},
		{"run|--only|CP-*|--config=v.yaml|--out|o", "agentconform replay 3f2a --config v.yaml --result o/result.json"},
		{"run|--target|http://h:1/p|--strict", "agentconform replay 3f2a --target http://h:1/p"},
		{"run", "agentconform replay 3f2a --config FILE"},
		{"run|--config", "agentconform replay 3f2a --config FILE"},
		{"run|--config|my vendor.yaml", "agentconform replay 3f2a --config 'my vendor.yaml'"},
		{"run|--config=a;reboot|--out|$(o)", "agentconform replay 3f2a --config 'a;reboot' --result '$(o)/result.json'"},
		{"run|--config|a\x1b[31m", "agentconform replay 3f2a --config FILE"},
	} {
		r := &reports.Result{Run: reports.Run{Command: "agentconform run --config other.yaml", Arguments: strings.Split(c.arguments, "|")}}
		assert.Equal(t, c.want, overview.ReplayCommand(r, &reports.Finding{ID: "3f2a"}), c.arguments)
	}
	assert.Empty(t, overview.ReplayCommand(&reports.Result{}, &reports.Finding{ID: "$(reboot)"}))
}
