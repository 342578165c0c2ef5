package main

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// wholeRun is a run of everything that several tests look at, and what was said of it before.
type wholeRun struct {
	promised   int // requirements, by doctor
	preview    *steps.Preview
	forPreview []string // requests
	requests   []string // of the run
	result     *reports.Result
}

var theWholeRun struct {
	sync.Once
	run *wholeRun
}

// judgedWhole judges, for the first test that asks, a reference on which somebody has deployed something: the result is
// the same for all.
func judgedWhole(t *testing.T) *wholeRun {
	t.Helper()
	theWholeRun.Do(func() {
		v := startVendor(t, 3)
		c := readOnly(t, v)
		c.ReadOnly = false
		w := &wholeRun{promised: promised(t, c)}
		v.requests = nil
		w.preview = previewed(t, c, steps.Selection{})
		w.forPreview = slices.Clone(v.requests)
		w.result = judge(t, c)
		w.requests = slices.Clone(v.requests)
		theWholeRun.run = w
	})
	require.NotNil(t, theWholeRun.run, "the run failed in the test that asked first")
	return theWholeRun.run
}
