package evidence

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// TestRecordedBodies checks how much is recorded of a large body, and of bodies after many others. A recorded part must
// not end within a secret.
func TestRecordedBodies(t *testing.T) {
	const secret = "secret-of-twenty-chars"
	w := &recorder{redact: client.NewRedactor(map[string]string{secret: "$K"})}
	assert.Equal(t, reports.Message{Body: "a $K b"}, w.body([]byte("a "+secret+" b")))
	for _, filler := range []int{0, 1, 5, 11, 17} {
		body := strings.Repeat("x", filler) + strings.Repeat(secret, 3*reports.MaxBody/len(secret))
		m := w.body([]byte(body))
		assert.Equal(t, len(body), m.Size)
		assert.Len(t, m.SHA256, 64)
		assert.NotContains(t, m.Body, "secr")
	}
	large := []byte(strings.Repeat("y", 4*reports.MaxBody))
	assert.Len(t, w.body(large).Body, reports.MaxBody)
	for range allBodies / reports.MaxBody {
		w.body(large)
	}
	m := w.body(large)
	assert.Equal(t, len(large), m.Size)
	assert.Len(t, m.Body, beginning)
	assert.Empty(t, w.body([]byte("short")).SHA256)
}

// TestViolationsOfAnOperationAreBounded adds violations with many different names of fields.
func TestViolationsOfAnOperationAreBounded(t *testing.T) {
	c := New(nil, nil, time.Time{}, nil, Reach{})
	for i := range 4 * maxViolations {
		c.noteViolation(i, spec.Violation{Operation: "get-state", Status: 200, Keyword: "duplicate-key", Pointer: fmt.Sprintf("/k%dx", i)})
	}
	c.noteViolation(1, spec.Violation{Operation: "list-threads", Status: 200, Keyword: "json"})
	assert.Len(t, c.Violations("get-state"), maxViolations)
	assert.Len(t, c.Violations("list-threads"), 1)
}
