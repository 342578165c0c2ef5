package client

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHeadersOfAnAnswerAreBounded(t *testing.T) {
	few := http.Header{"A": {"1", "2"}, "Content-Type": {"text/plain"}}
	assert.Equal(t, few, headersOf(few))
	many := http.Header{"Retry-After": {"3"}, "Www-Authenticate": {"Basic"}, "A": slices.Repeat([]string{"v"}, 20_000)}
	for i := range 10_000 {
		many[fmt.Sprintf("B%05d", i)] = []string{"v"}
	}
	kept := headersOf(many)
	assert.Len(t, kept, keptNames+3, "the first by name, two that are looked at, and how many there were")
	assert.Equal(t, "3", kept.Get("Retry-After"))
	assert.Equal(t, []string{"Basic"}, kept["Www-Authenticate"])
	assert.Equal(t, []string{"10003 names of headers in all"}, kept[leftOut])
	assert.Len(t, kept["A"], keptValues+1)
	assert.Equal(t, "... (20000 in all)", kept["A"][keptValues])
	assert.Len(t, many["A"], 20_000, "the map of the transport stays as it is")
}
