package export_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/reports/internal/recorded"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// TestWriteOfTenThousandExchanges holds the promise that a large run needs no more memory than a small one.
func TestWriteOfTenThousandExchanges(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a hundred megabytes")
	}
	journal, err := reports.NewJournal(t.TempDir())
	require.NoError(t, err)
	defer journal.Close() //nolint:errcheck // checked elsewhere
	body := `{"resources":[` + strings.Repeat(`{"id":"0b8f6f0e-9c2d-4f7e-8a43-5a9de1c7b302","status":"DEPLOYED"},`, 75) + `{}]}`
	r := recorded.Faulty()
	for x, err := range r.Exchanges.All() {
		require.NoError(t, err)
		_, err = journal.Append(x)
		require.NoError(t, err)
	}
	for journal.Len() < 10_000 {
		_, err := journal.Append(reports.Exchange{Method: "GET", URL: "http://127.0.0.1:8123/x", Status: 200, Response: reports.Message{Body: body}})
		require.NoError(t, err)
	}
	r.Exchanges = journal
	reports.Tally(r)

	before, start := reporttest.Heap(), time.Now()
	stop, peak := watchHeap()
	require.NoError(t, export.Write(t.TempDir(), r))
	close(stop)
	grown := <-peak - before
	t.Logf("10,000 exchanges, %d MB of bodies: written in %s, %d MB of memory", 10_000*len(body)>>20, time.Since(start).Round(time.Millisecond), grown>>20)
	assert.Less(t, grown, int64(32<<20))
}

// watchHeap measures the heap until stop is closed, then gives the largest size seen.
func watchHeap() (stop chan struct{}, peak chan int64) {
	stop, peak = make(chan struct{}), make(chan int64)
	go func() {
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		largest := int64(0)
		for {
			select {
			case <-ticker.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				largest = max(largest, int64(m.HeapAlloc))
			case <-stop:
				peak <- largest
				return
			}
		}
	}()
	return stop, peak
}
