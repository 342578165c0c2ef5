package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBasesNear(t *testing.T) {
	for base, want := range map[string][]string{
		"http://h":             {"http://h/api"},
		"http://h/v2":          {"http://h", "http://h/v2/api", "http://h/api/v2"},
		"http://h:1/a/threads": {"http://h:1/a", "http://h:1", "http://h:1/a/threads/api", "http://h:1/api/a/threads"},
		"http://h/a/b/c/d/e/f": {"http://h/a/b/c/d/e", "http://h/a/b/c/d", "http://h/a/b/c", "http://h/a/b", "http://h/a/b/c/d/e/f/api", "http://h/api/a/b/c/d/e/f"},
	} {
		assert.Equal(t, want, BasesNear(base))
	}
}
