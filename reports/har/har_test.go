package har_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/har"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// TestHAR checks no limit, because the archive contains all recorded exchanges.
func TestHAR(t *testing.T) {
	reporttest.Exporter{File: "result.har", Write: har.Write, Check: reporttest.SchemaFile("har-1.2.schema.json")}.Test(t)
}

func TestInvalidAddresses(t *testing.T) {
	r := &reports.Result{Exchanges: reports.Record(nil,
		reports.Exchange{URL: "http://user:secret@h/a b?x=%zz&status=A,B&n=%20#frag"},
		reports.Exchange{URL: "http://[::1"},
	)}
	var b bytes.Buffer
	require.NoError(t, har.Write(&b, r))
	reporttest.SchemaFile("har-1.2.schema.json")(t, b.Bytes())
	assert.Contains(t, b.String(), `"url":"http://h/a%20b?x=%25zz\u0026status=A,B\u0026n=%20"`)
	assert.NotContains(t, b.String(), "secret")
	assert.Contains(t, b.String(), `{"name":"n","value":" "}`)
}

func TestRepeatedRequest(t *testing.T) {
	r := &reports.Result{Exchanges: reports.Record(nil,
		reports.Exchange{URL: "http://h/a", Status: 200, Repeated: true},
		reports.Exchange{URL: "http://h/b", Error: "no response within 10s", Repeated: true},
	)}
	var b bytes.Buffer
	require.NoError(t, har.Write(&b, r))
	assert.Contains(t, b.String(), `"comment":"`+reports.RepeatedNote+`"`)
	assert.Contains(t, b.String(), `"comment":"no response: no response within 10s; `+reports.RepeatedNote+`"`)
}
