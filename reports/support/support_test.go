package support_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/support"
)

func TestSupport(t *testing.T) {
	check := func(t *testing.T, doc []byte) { require.NoError(t, json.Unmarshal(doc, new(map[string]any))) }
	reporttest.Exporter{File: "support.json", Write: support.Write, Check: check, Limit: 2 << 10}.Test(t)
}

// TestBadges checks the badge of each capability of the sample.
func TestBadges(t *testing.T) {
	var b bytes.Buffer
	for _, s := range overview.Of(reporttest.Sample()).Support() {
		require.NoError(t, support.WriteBadge(&b, s))
	}
	assert.Equal(t, `{"schemaVersion":1,"label":"control-plane-core","message":"failed 2/5","color":"red"}
{"schemaVersion":1,"label":"paging","message":"failed 1/4","color":"red"}
{"schemaVersion":1,"label":"images","message":"not tested","color":"lightgrey"}
{"schemaVersion":1,"label":"tenants","message":"not tested","color":"lightgrey"}
{"schemaVersion":1,"label":"agent-server-core","message":"passed 1/1","color":"brightgreen"}
{"schemaVersion":1,"label":"rollback","message":"could not tell","color":"yellow"}
`, b.String())
}
