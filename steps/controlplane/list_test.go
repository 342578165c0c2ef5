package controlplane

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/exchange"
)

func TestIsNewestFirst(t *testing.T) {
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	second := first.Add(time.Second)
	for name, c := range map[string]struct {
		rows []listedRevision
		want bool
	}{
		"newest first":                  {[]listedRevision{{1, second}, {0, first}}, true},
		"oldest first":                  {[]listedRevision{{0, first}, {1, second}}, false},
		"oldest first in one second":    {[]listedRevision{{0, first}, {1, first}}, true},
		"oldest first without times":    {[]listedRevision{{0, time.Time{}}, {1, time.Time{}}}, false},
		"ties between others":           {[]listedRevision{{2, second}, {0, first}, {1, first}}, true},
		"an older one between two ties": {[]listedRevision{{1, second}, {0, first}, {2, second}}, false},
		"the same time in another zone": {[]listedRevision{{0, first}, {1, first.In(time.FixedZone("", 3600))}}, true},
		"one of them shows no time":     {[]listedRevision{{0, first}, {1, time.Time{}}}, false},
		"three, the last two exchanged": {[]listedRevision{{2, second.Add(time.Second)}, {0, first}, {1, second}}, false},
	} {
		assert.Equal(t, c.want, isNewestFirst(c.rows), name)
	}
}

func TestReturnedAgain(t *testing.T) {
	before := []string{"c", "b", "a"}
	for want, page := range map[string][]string{"": {}, "b": {"b", "a"}, "a": {"new", "a"}} {
		assert.Equal(t, want, returnedAgain(before, page))
	}
	assert.Empty(t, returnedAgain(nil, before))
}

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
