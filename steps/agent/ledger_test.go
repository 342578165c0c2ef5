package agent

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/client"
)

func TestExistedBefore(t *testing.T) {
	const date = "Sun, 22 Nov 2026 10:00:10 GMT"
	for created, want := range map[string]bool{
		"2026-11-22T10:00:10.5Z": false, "2026-11-22T11:00:09+01:00": false, "2026-11-22T10:00:08.5Z": false, "2026-11-22T10:00:20Z": false,
		"2026-11-22T10:00:01Z": true, "2025-01-01T00:00:00+00:00": true, "yesterday": false, "": false,
	} {
		a := &client.Answer{Status: 200, Header: http.Header{"Date": {date}}, Took: time.Second, Body: []byte(`{"thread_id":"t","created_at":"` + created + `"}`)}
		assert.Equal(t, want, existedBefore(a), created)
		a.Header = http.Header{}
		assert.False(t, existedBefore(a), "without a clock nothing is known")
	}
	assert.False(t, existedBefore(nil))
}
