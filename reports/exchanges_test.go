package reports_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

func TestMemory(t *testing.T) {
	rec := reports.NewMemory()
	for i := 1; i <= 3; i++ {
		assert.Equal(t, i, rec.Append(reports.Exchange{Method: "GET", URL: fmt.Sprint("/", i), Status: 200}))
	}
	assert.Equal(t, 3, rec.Len())
	require.NoError(t, rec.Renumber([]int{3, 1, 2}))
	var seen []string
	for x := range rec.All() {
		seen = append(seen, fmt.Sprint(x.ID, x.URL))
	}
	assert.Equal(t, []string{"1/3", "2/1", "3/2"}, seen)

	assert.ErrorContains(t, rec.Renumber([]int{1, 2}), "names 2 of 3")
	assert.ErrorContains(t, rec.Renumber([]int{1, 2, 2}), "named twice")
	assert.ErrorContains(t, rec.Renumber([]int{0, 1, 2}), "unknown")
	_, err := rec.Get(4)
	assert.ErrorContains(t, err, "ids are 1 to 3")
}

func TestMemoryTakesConcurrentExchanges(t *testing.T) {
	rec := reports.NewMemory()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				url := fmt.Sprintf("/%d/%d/%s", w, i, strings.Repeat("x", i))
				x, err := rec.Get(rec.Append(reports.Exchange{URL: url}))
				assert.NoError(t, err)
				assert.Equal(t, url, x.URL)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 400, rec.Len())
}

func TestEvidenceIsBounded(t *testing.T) {
	body := strings.Repeat("é", reports.MaxBody) // twice the bound, and the bound falls between two bytes of none
	odd := "x" + body
	headers := map[string][]string{"X-Long": {strings.Repeat("v", 1<<20)}, strings.Repeat("N", 1<<20): {"v"}}
	for i := range 500 {
		headers[fmt.Sprint("X-", i)] = []string{"v"}
	}
	x, err := reports.NewMemory(reports.Exchange{
		URL:     "/" + strings.Repeat("a", 1<<20),
		Request: reports.Message{Body: odd}, Response: reports.Message{Body: "ok \xff", Headers: headers},
	}).Get(1)
	require.NoError(t, err)
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
	shown, err := r.Exchanges.Get(r.Findings[0].Exchange)
	require.NoError(t, err)
	order := make([]int, r.Exchanges.Len())
	for i := range order {
		order[i] = len(order) - i
	}
	require.NoError(t, r.RenumberExchanges(order))
	again, err := r.Exchanges.Get(r.Findings[0].Exchange)
	require.NoError(t, err)
	assert.Equal(t, shown.URL, again.URL)
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			assert.IsIncreasing(t, append([]int{0}, s.Exchanges...))
		}
	}
	assert.Error(t, r.RenumberExchanges([]int{1}))
}
