package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Operation is one request of one caller, or the wait for the end of a run.
type Operation struct {
	Caller    int    // first, second, nobody or unknown
	Verb      string // a pattern of the vocabulary
	Thread    int    // from 0, which is A
	Run       int    // from 1, over all threads; 0 where the verb names none
	Meanwhile bool   // it is sent at the same time as the one before it
}

// The callers.
const (
	first = iota
	second
	nobody
	unknown
)

var callers = []string{"the first user", "the second user", "a caller without credentials", "a caller with an unknown token"}

// The vocabulary: T stands for a thread, R for the number of a run.
const (
	create       = "creates thread T"
	start        = "starts run R on thread T"
	startWaiting = "starts run R, which waits, on thread T"
	rollBack     = "starts run R with rollback on thread T"
	rollWaiting  = "starts run R, which waits, with rollback on thread T"
	startUnknown = "starts run R of an unknown assistant on thread T"
	await        = "waits for the end of the runs of thread T"
	retrieve     = "retrieves run R under thread T"
	join         = "joins run R under thread T"
	readState    = "reads the state of thread T"
	list         = "lists the threads"
)

var (
	vocabulary = []string{create, start, startWaiting, rollBack, rollWaiting, startUnknown, await, retrieve, join, readState, list}
	starts     = []string{start, startWaiting, rollBack, rollWaiting, startUnknown}
)

// rolls tells whether the operation starts a run with rollback, and waits whether one that waits.
func (o Operation) rolls() bool { return o.Verb == rollBack || o.Verb == rollWaiting }
func (o Operation) waits() bool { return o.Verb == startWaiting || o.Verb == rollWaiting }

func (o Operation) String() string {
	text := strings.Replace(o.Verb, "thread T", "thread "+string(rune('A'+o.Thread)), 1)
	text = callers[o.Caller] + " " + strings.Replace(text, "run R", "run "+strconv.Itoa(o.Run), 1)
	if o.Meanwhile {
		return "meanwhile " + text
	}
	return text
}

// sentence is one of the vocabulary, with the keyword of Gherkin that may stand before it.
var sentence = regexp.MustCompile(`^(?:(?:When|And|\*) )?(meanwhile )?(` + strings.Join(callers, "|") + `) (.+)$`)

var (
	threadName = regexp.MustCompile(`thread ([A-Z])\b`)
	runNumber  = regexp.MustCompile(`run (\d{1,4})\b`)
)

// maxOperations bounds a sequence that is read.
const maxOperations = 200

// Parse reads a sequence of operations, one a line. Empty lines, comments and headings of Gherkin are left out.
func Parse(text string) ([]Operation, error) {
	var all []Operation
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '@' || strings.HasPrefix(line, "Feature:") || strings.HasPrefix(line, "Scenario:") {
			continue
		}
		o, err := parseOne(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, o)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no operation, such as %q", "When "+callers[first]+" creates thread A")
	}
	if len(all) > maxOperations {
		return nil, fmt.Errorf("%d operations: a sequence has at most %d", len(all), maxOperations)
	}
	all[0].Meanwhile = false
	return all, nil
}

func parseOne(line string) (Operation, error) {
	parts := sentence.FindStringSubmatch(line)
	if parts == nil {
		return Operation{}, fmt.Errorf("%.80q does not begin with a caller: %s", line, strings.Join(callers, ", "))
	}
	o := Operation{Meanwhile: parts[1] != "", Caller: slices.Index(callers, parts[2])}
	if at := threadName.FindStringSubmatch(parts[3]); at != nil {
		o.Thread = int(at[1][0] - 'A')
	}
	if at := runNumber.FindStringSubmatch(parts[3]); at != nil {
		o.Run, _ = strconv.Atoi(at[1])
	}
	o.Verb = runNumber.ReplaceAllString(threadName.ReplaceAllString(parts[3], "thread T"), "run R")
	if !slices.Contains(vocabulary, o.Verb) {
		return Operation{}, fmt.Errorf("no operation is called %.80q; there are: %s", parts[3], strings.Join(vocabulary, "; "))
	}
	return o, nil
}
