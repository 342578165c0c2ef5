package cucumber_test

import (
	"testing"

	"github.com/agentconform/agentconform/reports/cucumber"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// TestCucumber compares the document with the format. Package export holds its statuses to the verdicts.
func TestCucumber(t *testing.T) {
	reporttest.Exporter{File: "cucumber.json", Write: cucumber.Write, Check: reporttest.SchemaFile("cucumber.schema.json"), Limit: 3 << 20}.Test(t)
}
