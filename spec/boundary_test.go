package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func find(t testing.TB, id string) Operation {
	t.Helper()
	for _, side := range Sides() {
		for _, op := range shared.Operations(side) {
			if op.ID == id {
				return op
			}
		}
	}
	require.Fail(t, "no operation "+id)
	return Operation{}
}

func values(cases []Case, valid bool) []string {
	var list []string
	for _, c := range cases {
		if c.Valid == valid {
			list = append(list, c.Value)
		}
	}
	return list
}

func TestBoundaryCases(t *testing.T) {
	op := find(t, "list-revisions")
	limit := BoundaryCases(op, "limit")
	assert.Equal(t, []string{"1", "2", "20", "99", "100"}, values(limit, true))
	assert.Equal(t, []string{"0", "-1", "101", strings.Repeat("9", 30), "1.5", "", "abc", "5abc", "5,6", "NaN", "Infinity", "null", "true"}, values(limit, false))

	offset := BoundaryCases(op, "offset")
	assert.Equal(t, []string{"0", "1"}, values(offset, true))
	assert.Equal(t, []string{"-1", "1.5", "", "abc", "5abc", "5,6", "NaN", "Infinity", "null", "true"}, values(offset, false))

	assert.Equal(t, []string{"true", "false"}, values(BoundaryCases(op, "remote_reconciled"), true))
	assert.Equal(t, []string{"maybe", "2"}, values(BoundaryCases(op, "remote_reconciled"), false))

	status := values(BoundaryCases(op, "status"), true)
	assert.Equal(t, append(RevisionStatuses(), "CREATING,QUEUED", strings.Join(RevisionStatuses(), ",")), status)
	assert.Empty(t, values(BoundaryCases(op, "status"), false))

	assert.Len(t, values(BoundaryCases(op, "deployment_id"), true), 2)
	assert.Contains(t, values(BoundaryCases(op, "deployment_id"), false), "not-a-uuid")

	assert.Nil(t, BoundaryCases(op, "nothing"))
	assert.Nil(t, BoundaryCases(find(t, "get-run"), "run_id"), "a text without bounds has none")
}
