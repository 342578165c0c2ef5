package requirements

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const first = `{version: "0.1", requirements: {
  CP-LIST-3: {level: MUST, scenarios: {aa: limit 101, bb: limit 0}},
  CP-LIST-4: {level: SHOULD, scenarios: {cc: order}},
  CP-LIST-5: {level: MUST, scenarios: {dd: pages}}}}`

const second = `{version: "0.2", requirements: {
  CP-LIST-3: {level: MUST, scenarios: {aa: limit 101, b3: limit 0, ee: limit 1e2}},
  CP-LIST-4: {level: MUST, scenarios: {cc: order}},
  CP-LIST-6: {level: MAY, scenarios: {ff: filters}}}}`

func sets(changes string) fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{"0.1.yaml": file(first), "0.2.yaml": file(second), changesFile: file(changes)}
}

func TestChangesApply(t *testing.T) {
	set, err := load(sets(`{reworded: {bb: b2, b2: b3}, withdrawn: {dd: the interface does not define pages any more}}`), "0.1")
	require.NoError(t, err)
	assert.True(t, set.Has("CP-LIST-3", "aa"))
	assert.True(t, set.Has("CP-LIST-3", "b3"), "reworded twice")
	assert.False(t, set.Has("CP-LIST-3", "bb"))
	assert.False(t, set.Has("CP-LIST-3", "ee"), "newer")
	assert.False(t, set.Has("CP-LIST-5", "dd"), "withdrawn")
	assert.False(t, set.Has("CP-LIST-6", "ff"), "newer requirement")

	_, err = load(sets(`{reworded: {aa: bb, bb: aa}}`), "0.1")
	assert.NoError(t, err, "a circle ends")
}

func TestUnknownVersion(t *testing.T) {
	_, err := load(sets(""), "0.3")
	assert.EqualError(t, err, `no requirement set "0.3"; there are: 0.1, 0.2`)
}

func TestDifference(t *testing.T) {
	from, err := load(sets(""), "0.1")
	require.NoError(t, err)
	to, err := load(sets(""), "0.2")
	require.NoError(t, err)
	assert.Equal(t, []string{
		"CP-LIST-3 has 2 more scenarios in 0.2",
		"CP-LIST-4 is a SHOULD in 0.1 and a MUST in 0.2",
		"CP-LIST-6 (MAY) is new in 0.2",
		"CP-LIST-5 is not in 0.2",
	}, Difference(from, to))
}
