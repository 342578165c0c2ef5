package prover

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentconform/agentconform/reference/memnet"
)

// The minimum durations of graph runs and builds, which are similar to those over TCP.
const (
	graphTime = 5 * time.Millisecond
	buildTime = 4 * time.Millisecond
)

// longestRow is the time limit of a row, in virtual time.
const longestRow = 2 * time.Hour

// inBubble calls do in a bubble with its own network. It returns an error with the stack if do panics, and with the
// stacks of the bubble if the bubble deadlocks. A panic of another goroutine ends the process.
func inBubble(t *testing.T, do func(ctx context.Context, e environment)) (err error) {
	tempDir := t.TempDir() // created outside of the bubble, so that it is removed after a deadlock
	var bubble string
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v\n%s", reason, stacksOf(bubble))
		}
	}()
	synctest.Test(t, func(*testing.T) {
		bubble = bubbleOfCaller()
		defer func() {
			if reason := recover(); reason != nil {
				err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), longestRow)
		defer cancel()
		do(ctx, environment{
			network:   memnet.New(),
			tempDir:   tempDir,
			graphTime: graphTime,
			buildTime: buildTime,
		})
	})
	return err
}

const bubbleMark = "synctest bubble "

// bubbleOfCaller returns the text that marks goroutines of the caller's bubble in stacks, such as "synctest bubble 12]".
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

// stacksOf returns the stacks of the goroutines with the mark of a bubble.
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
