package agent

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/exchange"
)

func TestMayLack(t *testing.T) {
	page := func(method string, rows int) *exchange.Response {
		var all []string
		for range rows {
			all = append(all, `{"thread_id":"`+strings.Repeat("t", len(all)+1)+`"}`)
		}
		return &exchange.Response{Request: exchange.Request{Method: method}, Status: 200, Body: []byte("[" + strings.Join(all, ",") + "]")}
	}
	for _, row := range []struct {
		name string
		list Listing
		want bool
	}{
		{"no list", nil, false},
		{"GET of all threads", Listing{page(http.MethodGet, 50)}, false},
		{"a short search", Listing{page(http.MethodPost, 9)}, false},
		{"a search that may be a page", Listing{page(http.MethodPost, 10)}, true},
		{"pages to the end", Listing{page(http.MethodPost, 10), page(http.MethodPost, 50), page(http.MethodPost, 0)}, false},
		{"pages that repeat", Listing{page(http.MethodPost, 50), page(http.MethodPost, 50)}, true},
	} {
		assert.Equal(t, row.want, row.list.MayLack(), row.name)
	}
}
