package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/exchange"
)

func TestIsOver(t *testing.T) {
	response := func(status int, body string) *exchange.Response {
		return &exchange.Response{Status: status, Body: []byte(body)}
	}
	joined, refused := response(200, `{}`), response(401, `{}`)
	pending, running, ended := response(200, `{"status":"pending"}`), response(200, `{"status":"running"}`), response(200, `{"status":"error"}`)
	silent, removed := response(200, `{}`), response(404, `{}`)
	for _, row := range []struct {
		name      string
		join, run *exchange.Response
		raises    bool
		want      bool
	}{
		{name: "join and status agree", join: joined, run: ended, want: true},
		{name: "join answered, no status", join: joined, run: silent, want: true},
		{name: "join answered, still pending", join: joined, run: pending},
		{name: "join answered, still running", join: joined, run: running},
		{name: "join refused, still running", join: refused, run: running},
		{name: "join refused, no status", join: refused, run: silent},
		{name: "join and run refused", join: refused, run: refused},
		{name: "join refused, ended", join: refused, run: ended, want: true},
		{name: "join refused, removed", join: refused, run: removed, want: true},
		{name: "join refused, and the graph raises an error", join: refused, run: silent, raises: true, want: true},
		{name: "join refused, and the graph is still running", join: refused, run: running, raises: true},
		{name: "no response to the join, no status", run: silent},
		{name: "no response to the join, ended", run: ended, want: true},
	} {
		assert.Equal(t, row.want, isOver(row.join, row.run, row.raises), row.name)
	}
}
