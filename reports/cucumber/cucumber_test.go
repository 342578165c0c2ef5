package cucumber_test

import (
	"testing"

	"github.com/agentconform/agentconform/reports/cucumber"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// TestCucumber checks the format. The tests of package export compare the statuses with the verdicts.
func TestCucumber(t *testing.T) {
	reporttest.Exporter{File: "cucumber.json", Write: cucumber.Write, Check: reporttest.SchemaFile("cucumber.schema.json"), Limit: 3 << 20}.Test(t)
}
