package reports_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

func TestEvidenceIsBounded(t *testing.T) {
	body := strings.Repeat("é", reports.MaxBody) // twice the bound, and the bound falls between two bytes of none
	odd := "x" + body
	headers := map[string][]string{"X-Long": {strings.Repeat("v", 1<<20)}, strings.Repeat("N", 1<<20): {"v"}}
	for i := range 500 {
		headers[fmt.Sprint("X-", i)] = []string{"v"}
	}
	x := reports.Record(nil, reports.Exchange{
		URL:     "/" + strings.Repeat("a", 1<<20),
		Request: reports.Message{Body: odd}, Response: reports.Message{Body: "ok \xff", Headers: headers},
	})[0]
	assert.Len(t, x.Request.Body, reports.MaxBody-1, "cut at a rune boundary")
	assert.True(t, utf8.ValidString(x.Request.Body))
	assert.Equal(t, len(odd), x.Request.Size)
	assert.Len(t, x.Request.SHA256, 64)
	assert.Equal(t, 4, x.Response.Size, "a body that is no UTF-8 is told of too")
	assert.LessOrEqual(t, len(x.URL), 9<<10)
	assert.LessOrEqual(t, len(x.Response.Headers), 202)
	assert.LessOrEqual(t, len(fmt.Sprint(x.Response.Headers)), 20<<10)
}

func TestRenumberExchangesAdaptsWhatRefersToThem(t *testing.T) {
	r := reporttest.Faulty()
	shown, err := r.Exchange(r.Findings[0].Exchange)
	require.NoError(t, err)
	order := make([]int, len(r.Exchanges))
	for i := range order {
		order[i] = len(order) - i
	}
	r.RenumberExchanges(order)
	again, err := r.Exchange(r.Findings[0].Exchange)
	require.NoError(t, err)
	assert.Equal(t, shown.URL, again.URL)
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			assert.IsIncreasing(t, append([]int{0}, s.Exchanges...))
		}
	}
}
