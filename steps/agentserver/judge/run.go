package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
)

// Run is a run of the graph as judgements see it.
type Run struct {
	ID      string
	Inputs  []string           // the contents of its human messages; the last one is unique
	Outputs int                // how many messages it adds to its inputs
	Hold    time.Duration      // how long the graph waits for this run
	Created *exchange.Response // the response to its creation
}

// Text returns the last human message of the run.
func (r Run) Text() string { return r.Inputs[len(r.Inputs)-1] }

// Wrote returns the messages after the input of the run in a state. It returns nil if the state does not contain the
// input.
func (r Run) Wrote(state *exchange.Response) []messages.Message {
	all := messages.Of(state)
	at := r.inputIn(all)
	if at < 0 {
		return nil
	}
	return all[at+1:]
}

// CompleteIn reports whether a state contains the input of the run, followed by at least as many messages as the run
// writes.
func (r Run) CompleteIn(state *exchange.Response) bool { return len(r.Wrote(state)) >= r.Outputs }

// inputIn returns the index of the last human message of the run in a state, or -1.
func (r Run) inputIn(state []messages.Message) int {
	return slices.IndexFunc(state, func(m messages.Message) bool { return m.Text == r.Text() })
}

// isRepeatedBy reports whether a message contains the input of the run.
func (r Run) isRepeatedBy(m messages.Message) bool { return strings.Contains(m.Text, r.Text()) }

// span returns the part of a state in which the messages of the run may be: from start to before end. It is empty if the
// state lacks the input of the run.
func (r Run) span(state []messages.Message, runs []Run) (start, end int) {
	at := r.inputIn(state)
	if at < 0 {
		return 0, 0
	}
	end = len(state)
	for _, other := range runs {
		if next := other.inputIn(state); next > at {
			end = min(end, next)
		}
	}
	return at + 1, end
}

// namesOf returns names of runs for descriptions: "the run", or "run 1" and so on.
func namesOf(runs []Run) []string {
	if len(runs) == 1 {
		return []string{"the run"}
	}
	var names []string
	for i := range runs {
		names = append(names, fmt.Sprintf("run %d", i+1))
	}
	return names
}

// ownersOf returns, for each message of a state, the name of the run to which it belongs, or "unknown origin".
func ownersOf(state []messages.Message, runs []Run, names []string) []string {
	writers := Writers(state, runs)
	owners := slices.Repeat([]string{"unknown origin"}, len(state))
	for i, m := range state {
		for at, r := range runs {
			if writers[i] == at || slices.Contains(r.Inputs, m.Text) {
				owners[i] = names[at]
			}
		}
	}
	return owners
}

// messagesOf describes all messages of runs: "the 2 messages of the run".
func messagesOf(runs []Run) string {
	count := 0
	for _, r := range runs {
		count += len(r.Inputs) + r.Outputs
	}
	switch len(runs) {
	case 0:
		return "no messages"
	case 1:
		return "the " + reports.Count(count, "message") + " of the run"
	}
	return fmt.Sprintf("the %s of %d runs", reports.Count(count, "message"), len(runs))
}

// NoWriter is the index for a message that none of the runs wrote.
const NoWriter = -1

// Writers returns, for each message of a state, the index of the run that wrote it. The index is [NoWriter] for inputs,
// and for messages that no run can have written. A run can have written the messages between its input and the next
// input, at most as many as its order writes. Messages that repeat the input of the run are counted first. Messages that
// repeat the input of another run are not counted.
func Writers(state []messages.Message, runs []Run) []int {
	writers := slices.Repeat([]int{NoWriter}, len(state))
	for i, r := range runs {
		start, end := r.span(state, runs)
		free := r.Outputs
		claim := func(matches func(m messages.Message) bool) {
			for at := start; at < end && free > 0; at++ {
				if writers[at] == NoWriter && matches(state[at]) {
					writers[at] = i
					free--
				}
			}
		}
		claim(r.isRepeatedBy)
		claim(func(m messages.Message) bool {
			return !slices.ContainsFunc(runs, func(other Run) bool { return other.isRepeatedBy(m) })
		})
	}
	return writers
}
