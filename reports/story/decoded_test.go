package story

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestDecoded checks that a secret which was encoded twice, or escaped and encoded, and so not redacted, does not become
// readable.
func TestDecoded(t *testing.T) {
	for part, want := range map[string]string{
		"a%20b":       "a b",
		"key%252F09":  "key%252F09",
		"100%25":      "100%25",
		"key%5C%2F09": `key%5C%2F09`,
		"%zz":         "%zz",
		"%5E%7B":      "^{",
	} {
		assert.Equal(t, want, decoded(part, url.PathUnescape))
	}
}
