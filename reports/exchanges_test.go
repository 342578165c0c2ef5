package reports_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/recorded"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// recorders are the implementations that have to behave the same.
func recorders(t *testing.T) map[string]reports.Recorder {
	journal, err := reports.NewJournal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, journal.Close()) })
	return map[string]reports.Recorder{"memory": reports.NewMemory(), "journal": journal}
}

func TestRecorders(t *testing.T) {
	for name, rec := range recorders(t) {
		t.Run(name, func(t *testing.T) {
			for i := 1; i <= 3; i++ {
				id, err := rec.Append(reports.Exchange{Method: "GET", URL: fmt.Sprint("/", i), Status: 200})
				require.NoError(t, err)
				assert.Equal(t, i, id)
			}
			assert.Equal(t, 3, rec.Len())
			require.NoError(t, rec.Renumber([]int{3, 1, 2}))
			var seen []string
			for x, err := range rec.All() {
				require.NoError(t, err)
				seen = append(seen, fmt.Sprint(x.ID, x.URL))
			}
			assert.Equal(t, []string{"1/3", "2/1", "3/2"}, seen)

			assert.ErrorContains(t, rec.Renumber([]int{1, 2}), "names 2 of 3")
			assert.ErrorContains(t, rec.Renumber([]int{1, 2, 2}), "named twice")
			assert.ErrorContains(t, rec.Renumber([]int{0, 1, 2}), "unknown")
			_, err := rec.Get(4)
			assert.ErrorContains(t, err, "ids are 1 to 3")
			require.NoError(t, rec.Close())
			require.NoError(t, rec.Close())
		})
	}
}

func TestRecordersTakeConcurrentExchanges(t *testing.T) {
	for name, rec := range recorders(t) {
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			for w := range 8 {
				wg.Go(func() {
					for i := range 50 {
						url := fmt.Sprintf("/%d/%d/%s", w, i, strings.Repeat("x", i))
						id, err := rec.Append(reports.Exchange{URL: url})
						assert.NoError(t, err)
						x, err := rec.Get(id)
						assert.NoError(t, err)
						assert.Equal(t, url, x.URL)
					}
				})
			}
			wg.Wait()
			assert.Equal(t, 400, rec.Len())
		})
	}
}

func TestEvidenceIsBounded(t *testing.T) {
	body := strings.Repeat("é", reports.MaxBody) // twice the bound, and the bound falls between two bytes of none
	odd := "x" + body
	headers := map[string][]string{"X-Long": {strings.Repeat("v", 1<<20)}, strings.Repeat("N", 1<<20): {"v"}}
	for i := range 500 {
		headers[fmt.Sprint("X-", i)] = []string{"v"}
	}
	for name, rec := range recorders(t) {
		t.Run(name, func(t *testing.T) {
			id, err := rec.Append(reports.Exchange{
				URL:     "/" + strings.Repeat("a", 1<<20),
				Request: reports.Message{Body: odd}, Response: reports.Message{Body: "ok \xff", Headers: headers},
			})
			require.NoError(t, err)
			x, err := rec.Get(id)
			require.NoError(t, err)
			assert.Len(t, x.Request.Body, reports.MaxBody-1, "cut at a rune boundary")
			assert.True(t, utf8.ValidString(x.Request.Body))
			assert.Equal(t, len(odd), x.Request.Size)
			assert.Len(t, x.Request.SHA256, 64)
			assert.Equal(t, 4, x.Response.Size, "a body that is no UTF-8 is told of too")
			assert.LessOrEqual(t, len(x.URL), 9<<10)
			assert.LessOrEqual(t, len(x.Response.Headers), 202)
			assert.LessOrEqual(t, len(fmt.Sprint(x.Response.Headers)), 20<<10)
		})
	}
}

func TestJournalLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	journal, err := reports.NewJournal(dir)
	require.NoError(t, err)
	_, err = journal.Append(reports.Exchange{})
	require.NoError(t, err)
	require.NoError(t, journal.Close())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	_, err = journal.Append(reports.Exchange{})
	assert.ErrorContains(t, err, "closed")
	_, err = journal.Get(1)
	assert.ErrorContains(t, err, "closed")
	_, err = reports.NewJournal("/no/such/folder")
	assert.ErrorContains(t, err, "is the folder there")
}

func TestJournalNeedsLittleMemory(t *testing.T) {
	journal, err := reports.NewJournal(t.TempDir())
	require.NoError(t, err)
	defer journal.Close() //nolint:errcheck // checked elsewhere
	body := strings.Repeat(`{"a":"0123456789"},`, 800)
	before := reporttest.Heap()
	for range 10_000 {
		_, err := journal.Append(reports.Exchange{Method: "GET", URL: "/x", Response: reports.Message{Body: body}})
		require.NoError(t, err)
	}
	grown := reporttest.Heap() - before
	assert.Less(t, grown, int64(4<<20), "10,000 exchanges of 15 KB each may keep 4 MB of memory, not 150")
	runtime.KeepAlive(journal)
}

func TestRenumberExchangesAdaptsWhatRefersToThem(t *testing.T) {
	r := recorded.Faulty()
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

func BenchmarkJournalAppend(b *testing.B) {
	journal, err := reports.NewJournal(b.TempDir())
	require.NoError(b, err)
	defer journal.Close() //nolint:errcheck // checked elsewhere
	x := reports.Exchange{Method: "GET", URL: "/x", Response: reports.Message{Body: strings.Repeat(`{"a":"0123456789"},`, 100)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := journal.Append(x); err != nil {
			b.Fatal(err)
		}
	}
}
