package evidence

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTokenIn(t *testing.T) {
	const token = "tok\"en/1"
	for body, want := range map[string]string{
		`{"a":null,"b":[1,{"c~/d":"x tok\"en/1 y"}]}`: "/b/1/c~0~1d",
		`"tok\"en/1"`: "",
		`{"a":true,"tok\"en/1":"in a name only"}`: "",
		`plain tok"en/1`: "",
		strings.Repeat("[", 9000) + `"tok\"en/1"` + strings.Repeat("]", 9000): strings.Repeat("/0", 9000),
	} {
		pointer, found := tokenIn([]byte(body), token)
		assert.True(t, found, "%.60s", body)
		assert.Equal(t, want, pointer)
	}
	_, found := tokenIn([]byte(`{"a":"tok"}`), token)
	assert.False(t, found)
}
