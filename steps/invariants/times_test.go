package invariants

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/target"
)

func TestUpdatedBeforeCreated(t *testing.T) {
	const revisions = "/v2/deployments/" + one + "/revisions"
	of := func(created, updated string) string {
		return `{"id":"` + two + `","created_at":"` + created + `","updated_at":"` + updated + `"}`
	}
	for _, row := range []struct {
		name, path, response string
		fails                bool
	}{
		{"the same time", revisions + "/" + two, of("2026-01-01T00:00:01.5Z", "2026-01-01T00:00:01.5Z"), false},
		{"the same time in another zone", revisions + "/" + two, of("2026-01-01T01:00:01+01:00", "2026-01-01T00:00:01Z"), false},
		{"before", revisions + "/" + two, of("2026-01-01T00:00:01.5Z", "2026-01-01T00:00:01.4Z"), true},
		{"the same second without a fraction", revisions + "/" + two, of("2026-01-01T00:00:01.5Z", "2026-01-01T00:00:01Z"), false},
		{"the second before without a fraction", revisions + "/" + two, of("2026-01-01T00:00:01.5Z", "2026-01-01T00:00:00Z"), true},
		{"no date-time", revisions + "/" + two, of("2026-01-01T00:00:01.5Z", "never"), false},
		{"before, in a list", revisions, `{"resources":[` + of("2026-01-01T00:00:01Z", "0001-01-01T00:00:00Z") + `]}`, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHistory(t)
			h.plane(target.TheClient, "GET", row.path, "", 200, row.response)
			_, o := h.judged(`no read of a revision shows an updated_at that is before its created_at`)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}
