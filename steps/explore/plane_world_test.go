package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

// TestOwnerOfWrongSource checks which requirement a revision with a wrong graph_config_path violates.
func TestOwnerOfWrongSource(t *testing.T) {
	const field = "graph_config_path"
	of := func(path string) revision { return revision{source: map[string]string{field: path}} }
	for name, c := range map[string]struct {
		w    past
		at   int
		got  string
		want string
	}{
		"the only revision":                         {past{of("a")}, 0, "b", "CP-CREATE-3"},
		"the latest one, whose update has the path": {past{of("a"), of("b")}, 1, "a", "CP-UPDATE-9"},
		"the latest one, whose update lacks it":     {past{of("a"), of("a")}, 1, "", "CP-UPDATE-12"},
		"an earlier one, with the latest value":     {past{of("a"), of("a"), of("b")}, 1, "b", "CP-REV-5"},
		"an earlier one that never had a path":      {past{of("a"), of("a"), of("b")}, 1, "", "CP-UPDATE-12"},
		"an earlier one, whose update has the path": {past{of("a"), of("b"), of("c")}, 1, "", "CP-REV-5"},
		"the first one, changed by the last update": {past{of("a"), of("b")}, 0, "b", "CP-REV-5"},
	} {
		assert.Equal(t, c.want, c.w.ownerOf(c.at, field, c.got), name)
	}
}

// TestOwnerOfMissingRevision checks which requirement is violated if an update has created no revision and another update
// that sets no field of the source followed. If a deployment names an earlier revision again, the read is wrong.
func TestOwnerOfMissingRevision(t *testing.T) {
	w := past{{id: "1", owner: "CP-CREATE-2"}, {owner: "CP-UPDATE-2"}}
	_, latest := w.showsLatest("CP-UPDATE-4", judgetest.Response(200, `{"latest_revision_id":"1"}`))
	require.NotNil(t, latest)
	assert.Equal(t, "CP-UPDATE-2", latest.Requirement)
	shown := past{{id: "1", owner: "CP-CREATE-2"}, {id: "2", owner: "CP-UPDATE-2"}}
	for named, want := range map[string]string{"1": "CP-GET-1", "3": "CP-AUTH-3"} {
		_, latest = shown.showsLatest("CP-AUTH-3", judgetest.Response(200, `{"latest_revision_id":"`+named+`"}`))
		require.NotNil(t, latest)
		assert.Equal(t, want, latest.Requirement, named)
	}
	for list, want := range map[string]string{
		`{"resources":[{"id":"1"}]}`:                       "CP-UPDATE-2",
		`{"resources":[{"id":"1"},{"id":"2"},{"id":"3"}]}`: "CP-UPDATE-4",
	} {
		_, problem := w.showsAll("CP-UPDATE-4", judgetest.Response(200, list))
		require.NotNil(t, problem)
		assert.Equal(t, want, problem.Requirement, list)
	}
}

func TestByDigest(t *testing.T) {
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for image, want := range map[any]string{
		nil:                              "",
		"app":                            "app" + digest,
		"registry.test:5000/app:v1":      "registry.test:5000/app" + digest,
		"registry.test/app@sha256:12345": "registry.test/app" + digest,
	} {
		assert.Equal(t, want, byDigest(image))
	}
}
