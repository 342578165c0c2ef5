package evidence

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// newCollector returns a collector with the contract.
func newCollector(t *testing.T, redact *client.Redactor, start time.Time) *Collector {
	t.Helper()
	oracle, err := spec.New()
	require.NoError(t, err)
	return New(oracle, redact, start, nil, Reach{})
}

// TestServerErrorsByKindOfRequest checks the kind of the request of each 5xx.
func TestServerErrorsByKindOfRequest(t *testing.T) {
	c := newCollector(t, client.NewRedactor(nil), time.Now())
	const id = "/v2/deployments/3f2a8c1e-5b7d-4e9f-8a6c-0d1e2f3a4b5c"
	for _, r := range []exchange.Request{
		{Side: spec.ControlPlane, Method: http.MethodGet, Path: id},
		{Side: spec.ControlPlane, Method: http.MethodGet, Path: id + "/revisions", Query: "limit=0", Wrong: true},
		{Side: spec.ControlPlane, Method: http.MethodGet, Path: "/v2/deployments/x", Wrong: true},
		{Side: spec.ControlPlane, Method: http.MethodPatch, Path: id, Body: []byte(`{`), Wrong: true},
		{Side: spec.ControlPlane, Method: http.MethodDelete, Path: id},
		{Side: spec.AgentServer, Method: http.MethodGet, Path: "/threads/t/runs/r/join", Raised: true},
		{Side: spec.AgentServer, Method: http.MethodGet, Path: "/threads/t/runs/r/join", Raised: true, Removable: func() bool { return true }},
		{Side: spec.AgentServer, Method: http.MethodGet, Path: "/threads/t/runs/r/join"},
		{Side: spec.AgentServer, Method: http.MethodGet, Path: "/threads/t/state", Early: true},
	} {
		c.Observe(context.Background(), r, time.Now(), &exchange.Response{Request: r, Status: 500, Header: http.Header{}}, "")
	}
	count := func(side spec.Side, kind RequestKind) int {
		return len(c.ResponsesTo(side, kind))
	}
	assert.Equal(t, []int{1, 2, 2, 0}, []int{count(spec.ControlPlane, Kept), count(spec.ControlPlane, Parameter), count(spec.ControlPlane, Broken), count(spec.ControlPlane, Raised)})
	assert.Equal(t, []int{1, 0, 0, 2}, []int{count(spec.AgentServer, Kept), count(spec.AgentServer, Parameter), count(spec.AgentServer, Broken), count(spec.AgentServer, Raised)})
}

// TestIDsAreSentAsTheyWereGiven checks that an ID of any form is not reported as a mistake of the suite, but other
// contract violations of a request are.
func TestIDsAreSentAsTheyWereGiven(t *testing.T) {
	c := newCollector(t, client.NewRedactor(nil), time.Now())
	read := exchange.Request{Side: spec.ControlPlane, Method: http.MethodGet, Path: "/v2/deployments/own"}
	c.Observe(context.Background(), read, time.Now(), &exchange.Response{Request: read, Status: 200, Body: []byte(`{}`)}, "")
	assert.Empty(t, c.OwnMistakes())
	read.Query = "limit=1"
	c.Observe(context.Background(), read, time.Now(), nil, "closed")
	assert.Len(t, c.OwnMistakes(), 1)
}
