package outcome

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/exchange"
)

// TestCutAroundKeepsDifference checks that both shortened texts contain their first difference, early enough for one line
// of a report.
func TestCutAroundKeepsDifference(t *testing.T) {
	long := strings.Repeat("every good boy ", 40)
	for name, c := range map[string]struct{ expected, actual, wantExpected, wantActual string }{
		"they differ at the end":                      {long + "ONE", long + "TWO", "ONE", "TWO"},
		"the actual text is quoted after other words": {"the human messages \"" + long + "ONE" + long + "\"", "\"" + long + "TWO" + long + "\"", "ONE", "TWO"},
		"a JSON string is quoted without quotes":      {"repo_ref " + long + "ONE", "\"" + long + "TWO\"", "ONE", "TWO"},
		"the actual text is longer":                   {"x " + long, long + "TWO", "good boy", "TWO"},
		"nothing in common":                           {"status 404", "status 200 with " + long, "status 404", "status 200"},
		"short":                                       {"a", "b", "a", "b"},
		"the first lines are equal":                   {"{a ...\n" + long + "ONE", "{a ...\n" + long + "TWO", "ONE", "TWO"},
		"both texts are equal":                        {"1", "1", "1", "1, which is equal only as text"},
	} {
		expected, actual := CutAround(c.expected, c.actual)
		assert.Contains(t, expected, c.wantExpected, name)
		assert.Contains(t, actual, c.wantActual, name)
		assert.Less(t, len(expected), 220, name)
		assert.Less(t, len(actual), 220, name)
	}
}

// TestReasonHasValueAtPointer checks that the reason quotes the wrong value of a long body.
func TestReasonHasValueAtPointer(t *testing.T) {
	body := `{"filler":"` + strings.Repeat("x", 5000) + `", "detail": {"wrong": 7}, "more":"` + strings.Repeat("y", 5000) + `"}`
	o := Fails(&exchange.Response{Status: 404, Body: []byte(body)}, Violation{Expected: "JSON with a string as detail", Pointer: "/detail"})
	assert.Equal(t, `expected JSON with a string as detail, got 404, with detail {"wrong": 7}`, o.Reason)
}

// TestReasonNamesIDOfTheObject checks that the description of a long body names the id of the object: run_id for a run.
func TestReasonNamesIDOfTheObject(t *testing.T) {
	filler := strings.Repeat("x", 80)
	for body, want := range map[string]string{
		`{"run_id":"r1","thread_id":"t1","filler":"` + filler + `"}`: "the run r1",
		`{"run_id":"","thread_id":"t1","filler":"` + filler + `"}`:   `{"run_id":"","thread_id":"t1",…}`,
		`{"thread_id":"t1","filler":"` + filler + `"}`:               "the thread t1",
		`{"id":"a1","filler":"` + filler + `"}`:                      "the revision a1",
	} {
		o := Fails(&exchange.Response{Status: 200, Body: []byte(body)}, Violation{Expected: "another one"})
		assert.Equal(t, "expected another one, got 200, with "+want, o.Reason)
	}
}
