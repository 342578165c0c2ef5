//go:build nightly

package export_test

import (
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// TestLargeRunsNeedNoMoreMemory holds the promise that a run of many exchanges is written with the memory of one of few.
func TestLargeRunsNeedNoMoreMemory(t *testing.T) {
	few, many := memoryOfWriting(t, 1_000), memoryOfWriting(t, 10_000)
	t.Logf("live memory while writing 1,000 exchanges: %d KB, 10,000: %d KB", few>>10, many>>10)
	assert.Less(t, many, few+8<<20, "9,000 further exchanges hold 48 MB of bodies")
}

// memoryOfWriting writes all reports of a run with n exchanges, and returns by how much the live memory grew meanwhile.
func memoryOfWriting(t *testing.T, n int) int64 {
	t.Helper()
	journal := reports.NewMemory()
	body := `{"resources":[` + strings.Repeat(`{"id":"0b8f6f0e-9c2d-4f7e-8a43-5a9de1c7b302","status":"DEPLOYED"},`, 75) + `{}]}`
	r := reporttest.Faulty()
	for x := range r.Exchanges.All() {
		journal.Append(x)
	}
	for journal.Len() < n {
		journal.Append(reports.Exchange{Method: "GET", URL: "http://127.0.0.1:8123/x", Status: 200, Response: reports.Message{Body: body}})
	}
	watched := &watched{Exchanges: journal}
	r.Exchanges = watched
	reports.Tally(r)
	before := heap()
	require.NoError(t, export.Write(t.TempDir(), r))
	return watched.largest - before
}

// watched measures the live memory at every 500th exchange that is read.
type watched struct {
	reports.Exchanges
	largest int64
}

func (w *watched) All() iter.Seq[reports.Exchange] {
	return func(yield func(reports.Exchange) bool) {
		n := 0
		for x := range w.Exchanges.All() {
			if n++; n%500 == 0 {
				w.largest = max(w.largest, heap())
			}
			if !yield(x) {
				return
			}
		}
	}
}

// heap is the size of the heap after a collection, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
