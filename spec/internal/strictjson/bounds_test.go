package strictjson

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestValuesAreBounded: what is counted are values, not keys, and one more than allowed leaves none.
func TestValuesAreBounded(t *testing.T) {
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(`{"a":0},`, n/2), ",") + "]" }
	most := Decode([]byte(list(MaxValues - 2)))
	assert.True(t, most.Decoded)
	assert.Empty(t, most.Faults)
	more := Decode([]byte(list(MaxValues)))
	assert.False(t, more.Decoded)
	require.Len(t, more.Faults, 1)
	assert.Equal(t, Values, more.Faults[0].Kind)
}

// TestPointersAreBounded: keys may be as long as the text.
func TestPointersAreBounded(t *testing.T) {
	key := strings.Repeat("é", 2*maxPointer)
	got := Decode([]byte(`{"` + key + `":{"` + key + `":{"` + key + `":{"a":1,"a":2}}}}`))
	require.Len(t, got.Faults, 1)
	assert.Less(t, len(got.Faults[0].Pointer), maxPointer+10)
	assert.True(t, utf8.ValidString(got.Faults[0].Pointer))
}
