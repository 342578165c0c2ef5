package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

func TestWhatARolledBackRunWasToDo(t *testing.T) {
	began := time.Now()
	said := func(content string) []threads.Message { return []threads.Message{{Content: content}} }
	first := &tombstone{input: said("wait=250 wait-after-write=50 await=9 hello"), last: began}
	assert.Equal(t, began.Add(300*time.Millisecond), tombstone{behind: first}.due())
	assert.False(t, tombstone{input: said("x"), written: said("x")}.hasOutput())
	assert.True(t, tombstone{input: said("x"), written: append(said("x"), said("y")...)}.hasOutput())
}

func TestTheLastExchange(t *testing.T) {
	of := func(kinds ...string) (all []map[string]any) {
		for _, k := range kinds {
			all = append(all, map[string]any{"type": k})
		}
		return all
	}
	for _, c := range []struct {
		all  []map[string]any
		want int
	}{
		{of("human", "ai"), 2},
		{of("human", "ai", "human", "tool", "ai"), 3},
		{of("human", "ai", "human", "human", "ai"), 3},
		{of("ai"), 1},
		{of("human"), 1},
	} {
		assert.Len(t, lastExchange(c.all), c.want)
	}
}

func TestWhichRunsARollbackReaches(t *testing.T) {
	b := newOtherRuns()
	run := func(id, thread, strategy string, deleted ...string) {
		b.begun(threads.Run{ID: id, ThreadID: thread, Strategy: strategy}, deleted)
	}
	run("earlier", "a", "enqueue")
	run("ended", "b", "enqueue")
	run("party", "c", "rollback")
	run("prior", "d", "enqueue")
	run("later", "e", "enqueue")
	b.ended("ended", []threads.Message{{ID: "last"}})
	run("new", "d", "rollback", "prior")
	for id, want := range map[string]bool{"earlier": true, "ended": false, "party": false, "prior": false, "later": false, "new": false} {
		assert.Equal(t, want, b.affected(id), id)
	}
	b.ended("earlier", []threads.Message{{ID: "word"}})
	assert.True(t, b.discarded(threads.Message{ID: "word"}))
	assert.False(t, b.discarded(threads.Message{ID: "last"}))
}
