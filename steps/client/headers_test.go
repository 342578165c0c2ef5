package client

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHeadersOfAnAnswerAreBounded(t *testing.T) {
	few := http.Header{"A": {"1", "2"}, "Content-Type": {"text/plain"}}
	assert.Equal(t, few, headersOf(few))
	many := http.Header{"Retry-After": {"3"}, "Www-Authenticate": {"Basic"}, "A": slices.Repeat([]string{"v"}, 20_000)}
	kept := headersOf(many)
	assert.Equal(t, "3", kept.Get("Retry-After"))
	assert.Equal(t, "Basic", kept.Get("Www-Authenticate"))
	assert.Len(t, kept["A"], 117)
	assert.Equal(t, []string{"19883 more values"}, kept[omittedHeaders])
	long := http.Header{"Location": {strings.Repeat("x", 5000)}, "Retry-After": {"5"}}
	assert.Equal(t, http.Header{"Retry-After": {"5"}, omittedHeaders: {"1 more values"}}, headersOf(long), "never a part of a value")
	assert.Len(t, many["A"], 20_000, "the map of the transport stays as it is")
}
