package controlplane_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/spec"
	"github.com/stretchr/testify/require"
)

func TestTheStatusesAreTheContracts(t *testing.T) {
	var mine []string
	for _, s := range controlplane.Statuses() {
		mine = append(mine, string(s))
	}
	require.ElementsMatch(t, spec.RevisionStatuses(), mine)
}

func TestSettledAndBefore(t *testing.T) {
	for _, s := range controlplane.Statuses() {
		settled := strings.HasSuffix(string(s), "FAILED") || s == controlplane.Deployed || s == controlplane.Skipped || s == controlplane.Interrupted || s == controlplane.Unknown
		require.Equal(t, settled, s.Settled(), s)
		require.False(t, s.Before(s), s)
		require.Equal(t, !settled, s.Before(controlplane.Deployed), s)
	}
	require.True(t, controlplane.Queued.Before(controlplane.Building))
	require.False(t, controlplane.Deploying.Before(controlplane.Building))
}

// TestAnswersKeepTheContract holds good and bad answers of every operation to the OpenAPI document.
func TestAnswersKeepTheContract(t *testing.T) {
	oracle, err := spec.New()
	require.NoError(t, err)
	r := newRig(t, controlplane.Cloud)
	id, revision := r.create(gitBody)
	judged := 0
	for _, headers := range [][]string{{"X-Api-Key: key-a"}, {"X-Api-Key: nope"}} {
		for _, known := range []string{id, unknownID, "no-uuid"} {
			requests := operations(known, revision)
			if known == id {
				delete(requests, "delete")
			}
			for name, request := range requests {
				for _, query := range []string{"", "limit=0&remote_reconciled=x"} {
					req := httptest.NewRequest(request[0], request[1]+"?"+query, strings.NewReader(request[2]))
					key, value, _ := strings.Cut(headers[0], ": ")
					req.Header = http.Header{key: {value}, "Content-Type": {"application/json"}}
					resp := r.serve(req)
					body, err := io.ReadAll(resp.Body)
					require.NoError(t, err)
					violations := oracle.JudgeResponse(spec.Exchange{
						Side: spec.ControlPlane, Method: request[0], Path: request[1], Query: query, RequestHeader: req.Header,
						RequestBody: []byte(request[2]), Status: resp.StatusCode, Header: resp.Header, Body: body,
					})
					require.Empty(t, violations, "%s %s: %s", name, known, body)
					judged++
				}
			}
		}
	}
	require.Greater(t, judged, 80)
}
