package prover

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentconform/agentconform/reference/memnet"
)

// graphTime is how long each run of a graph takes at least. In a bubble, time passes only while every goroutine waits.
const graphTime = 5 * time.Millisecond

// longestRow bounds a row, in virtual time.
const longestRow = 2 * time.Hour

// inBubble calls do in virtual time, with a network of its own. The error says that the bubble ended in a deadlock or a
// panic.
func inBubble(t *testing.T, do func(ctx context.Context, e environment)) (err error) {
	tempDir := t.TempDir() // outside: it is removed even after a deadlock
	var bubble string
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v\n%s", reason, stacksOf(bubble))
		}
	}()
	synctest.Test(t, func(*testing.T) {
		bubble = bubbleOfCaller()
		ctx, cancel := context.WithTimeout(context.Background(), longestRow)
		defer cancel()
		do(ctx, environment{
			network:   memnet.New(),
			tempDir:   tempDir,
			graphTime: graphTime,
		})
	})
	return nil
}

const bubbleMark = "synctest bubble "

// bubbleOfCaller returns what marks the stacks of the goroutines in the bubble of the caller, "synctest bubble 12]".
func bubbleOfCaller() string {
	header := make([]byte, 200)
	header, _, _ = bytes.Cut(header[:runtime.Stack(header, false)], []byte("\n"))
	at := bytes.Index(header, []byte(bubbleMark))
	if at < 0 {
		return bubbleMark
	}
	mark, _, _ := bytes.Cut(header[at:], []byte("]"))
	return string(mark) + "]"
}

// stacksOf returns the stacks of the goroutines in a bubble.
func stacksOf(bubble string) string {
	all := make([]byte, 64<<20)
	all = all[:runtime.Stack(all, true)]
	var found bytes.Buffer
	for stack := range bytes.SplitSeq(all, []byte("\n\n")) {
		header, _, _ := bytes.Cut(stack, []byte("\n"))
		if bytes.Contains(header, []byte(bubble)) {
			found.Write(stack)
			found.WriteString("\n\n")
		}
	}
	return found.String()
}
