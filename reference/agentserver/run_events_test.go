package agentserver

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

func TestAReaderFarBehindGetsTheValuesOnce(t *testing.T) {
	for writes, values := range map[int]int{maxValues: maxValues, maxValues + 1: 1} {
		p := threads.Progress{Run: threads.Run{ID: "run", AssistantID: "main"}, State: threads.State{Messages: make([]threads.Message, writes)}}
		for i := range writes {
			p.Writes = append(p.Writes, threads.Write{Input: i == 0, From: i, To: i + 1})
		}
		r := runReader{modes: []string{modeValues, modeUpdates}}
		events := r.next(p)
		count := map[string]int{}
		for _, e := range events {
			count[e.name]++
		}
		assert.Equal(t, map[string]int{"values": values, "updates": writes - 1}, count)
		last := events[len(events)-1]
		assert.Len(t, last.data.(map[string]any)["messages"], writes)
		assert.Empty(t, r.next(p), "nothing is sent twice")
	}
}
