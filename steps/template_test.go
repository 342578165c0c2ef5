package steps_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestCreateBodyWithoutName checks that the suite sends no name if create.body has none, because the interface does not
// define the field.
func TestCreateBodyWithoutName(t *testing.T) {
	runInBubble(t, func(t world) {
		c := configure(t, startIndependent(t, independent.Options{}))
		c.Target = serveProxy(t, c.Target, func(r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			assert.False(t, gjson.GetBytes(body, "name").Exists(), "%s", body)
		}, func(_ *http.Response, body []byte) []byte { return body })
		delete(c.Create.Body, "name")
		delete(c.Create.Refused, "name")
		res := judge(t, c, func(o *steps.Options) {
			o.Select.Only = []string{"CP-AUTH-*", "CP-CREATE-*", "CP-CONTRACT-create-deployment", "CP-GET-1", "CP-UPDATE-1",
				"E2E-1"}
			o.Select.Tags = "not @situation"
		})
		assert.Equal(t, reports.Conformant, res.Verdict)
		var skipped int
		for _, q := range res.Requirements {
			for _, scenario := range q.Scenarios {
				if q.ID == "CP-AUTH-3" && scenario.Verdict == reports.Skipped {
					assert.Equal(t, "not configured: set create.body.name", scenario.Reason)
					skipped++
				}
			}
		}
		assert.Equal(t, 2, skipped, "scenarios that search deployments by name")
	})
}
