package badge_test

import (
	"bytes"
	"encoding/xml"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports/badge"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

func TestBadge(t *testing.T) {
	reporttest.Exporter{File: "badge.svg", Write: badge.Write, Check: func(t *testing.T, doc []byte) { require.NoError(t, xml.Unmarshal(doc, new(struct{}))) }, Limit: 10_000}.Test(t)
}

func TestBadgeCountsRequirements(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, badge.Write(&b, reporttest.Faulty()))
	assert.Regexp(t, `non-conformant \(partial run\) 3/1\d\d<`, b.String(), "of those that apply")
}
