package badge_test

import (
	"encoding/xml"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports/badge"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

func TestBadge(t *testing.T) {
	check := func(t *testing.T, doc []byte) { require.NoError(t, xml.Unmarshal(doc, new(struct{}))) }
	reporttest.Exporter{File: "badge.svg", Write: badge.Write, Check: check, Limit: 10_000}.Test(t)
}
