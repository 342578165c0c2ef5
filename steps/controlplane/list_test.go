package controlplane

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/exchange"
)

func TestChangedStatus(t *testing.T) {
	shows := func(id, status string) *exchange.Response {
		body := fmt.Sprintf(`{"id":%q,"status":%q}`, id, status)
		return &exchange.Response{Status: http.StatusOK, Body: []byte(body)}
	}
	before := []*exchange.Response{shows("1", "BUILDING"), shows("2", "Awaiting build"), shows("3", "DEPLOYED")}
	for name, c := range map[string]struct {
		after []*exchange.Response
		want  string // id
	}{
		"nothing":                     {before, ""},
		"a superseded revision":       {[]*exchange.Response{shows("1", "BUILDING"), shows("2", "SKIPPED")}, "2"},
		"one that had settled":        {[]*exchange.Response{shows("3", "BUILDING")}, ""},
		"a revision of somebody else": {[]*exchange.Response{shows("4", "BUILDING")}, ""},
		"a request that was refused":  {[]*exchange.Response{{Status: http.StatusNotFound}}, ""},
	} {
		got := ""
		if changed := changedStatus(before, c.after); changed != nil {
			got = changed.Get("id").String()
		}
		assert.Equal(t, c.want, got, name)
	}
}
