package outcome

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/exchange"
)

func TestWhatDiffersIsNotCut(t *testing.T) {
	long := strings.Repeat("every good boy ", 40)
	for name, c := range map[string]struct{ expected, actual, wantExpected, wantActual string }{
		"the end of two long texts":       {long + "ONE", long + "TWO", "ONE", "TWO"},
		"quoted behind other words":       {"the human messages \"" + long + "ONE" + long + "\"", "\"" + long + "TWO" + long + "\"", "ONE", "TWO"},
		"a JSON text, said without marks": {"repo_ref " + long + "ONE", "\"" + long + "TWO\"", "ONE", "TWO"},
		"the actual text goes on":         {"x " + long, long + "TWO", "good boy", "TWO"},
		"nothing in common":               {"status 404", "status 200 with " + long, "status 404", "status 200"},
		"short":                           {"a", "b", "a", "b"},
	} {
		expected, actual := CutAround(c.expected, c.actual)
		assert.Contains(t, expected, c.wantExpected, name)
		assert.Contains(t, actual, c.wantActual, name)
		assert.Less(t, len(expected), 220, name)
		assert.Less(t, len(actual), 220, name)
	}
}

func TestThePlaceOfAViolationIsNotCut(t *testing.T) {
	body := `{"filler":"` + strings.Repeat("x", 5000) + `", "detail": {"wrong": 7}, "more":"` + strings.Repeat("y", 5000) + `"}`
	o := Fails(&exchange.Response{Status: 404, Body: []byte(body)}, Violation{Expected: "JSON with a string as detail", Pointer: "/detail"})
	assert.Equal(t, `expected JSON with a string as detail, got status 404 with detail {"wrong": 7}`, o.Reason)
}
