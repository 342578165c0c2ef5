package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/features"
)

// Operation is one request of one caller, or a wait.
type Operation struct {
	Caller    int
	Verb      string // a pattern of the vocabulary
	Object    int    // the thread or deployment, from 0, which is A
	Number    int    // number of the run, over all threads, or of the revision, from 1; 0 if the verb has none
	With      string // the fields of an update or the parameters of a list; "" for none
	Meanwhile bool   // it is sent at the same time as the operation before it
}

// The callers. The two users are those of the agent server, and the client and the other tenant those of the control plane.
const (
	first = iota
	second
	nobody
	unknown
	theClient
	otherTenant
)

var callers = []string{"the first user", "the second user", "a caller without credentials",
	"a caller with an unknown token", "the client", "the other tenant"}

// The vocabulary of the agent server: T stands for a thread, R for the number of a run.
const (
	create       = "creates thread T"
	start        = "starts run R on thread T"
	startWaiting = "starts run R, which waits, on thread T"
	rollBack     = "starts run R with rollback on thread T"
	rollWaiting  = "starts run R, which waits, with rollback on thread T"
	startTool    = "starts run R, which uses a tool, on thread T"
	startFailing = "starts run R, which fails, on thread T"
	rollFailing  = "starts run R, which fails, with rollback on thread T"
	startUnknown = "starts run R of an unknown assistant on thread T"
	await        = "waits for the end of the runs of thread T"
	retrieve     = "retrieves run R under thread T"
	join         = "joins run R under thread T"
	dropJoin     = "joins run R under thread T and closes the connection"
	readState    = "reads the state of thread T"
	list         = "lists the threads"
)

// The vocabulary of the control plane: T stands for a deployment, R for the number of a revision.
const (
	deploy        = "creates deployment T"
	update        = "updates deployment T"
	settle        = "waits until the latest revision of deployment T has settled"
	getDeployment = "retrieves deployment T"
	getRevision   = "retrieves revision R of deployment T"
	listRevisions = "lists the revisions of deployment T"
)

var (
	ofAgentServer  = slices.Concat([]string{create}, starts, []string{await, retrieve, join, dropJoin, readState, list})
	ofControlPlane = []string{deploy, update, settle, getDeployment, getRevision, listRevisions}
	vocabulary     = slices.Concat(ofAgentServer, ofControlPlane)

	// Runs that need a thread without a run in progress, because the interface does not define what happens to two runs in
	// progress.
	plainStarts = []string{start, startWaiting, startTool, startFailing}
	rollbacks   = []string{rollBack, rollWaiting, rollFailing}
	starts      = slices.Concat(plainStarts, rollbacks, []string{startUnknown})
	failing     = []string{startFailing, rollFailing}
)

// options are the texts that may follow a verb. Value 1 is the value of create.body, and value 2 that of alternatives.
var options = map[string]*regexp.Regexp{
	update:        listOf(`(?:repo_ref|graph_config_path|image_uri) (?:1|2|broken|digest|null)|build_on_push false|nothing`),
	listRevisions: listOf(`status [A-Z_,]{1,99}|limit \d{1,3}|offset \d{1,3}`),
}

func listOf(one string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + one + `)(?: and (?:` + one + `))*$`)
}

// Of returns the operations of a sequence that are sent to a half of the interface. Operations remain simultaneous,
// unless the others of their group are for the other half.
func Of(profile string, all []Operation) (own []Operation) {
	joinsGroup := false
	for _, o := range all {
		if !o.Meanwhile {
			joinsGroup = false
		}
		isOwn := slices.Contains(ofControlPlane, o.Verb) == (profile == features.ControlPlane)
		if !isOwn {
			continue
		}
		o.Meanwhile = joinsGroup
		joinsGroup = true
		own = append(own, o)
	}
	return own
}

func (o Operation) String() string {
	text := objectName.ReplaceAllString(o.Verb, "${1} "+string(rune('A'+o.Object)))
	text = callers[o.Caller] + " " + numberName.ReplaceAllString(text, "${1} "+strconv.Itoa(o.Number))
	if o.With != "" {
		text += " with " + o.With
	}
	if o.Meanwhile {
		return "meanwhile " + text
	}
	return text
}

// sentence matches an operation with an optional keyword of Gherkin.
var sentence = regexp.MustCompile(`^(?:(?:When|And|\*) )?(meanwhile )?(` + strings.Join(callers, "|") + `) (.+)$`)

var (
	objectName = regexp.MustCompile(`\b(thread|deployment) ([A-Z])\b`)
	numberName = regexp.MustCompile(`\b(run|revision) (R|\d{1,4})\b`)
)

// ignored matches comments, tags and headings.
var ignored = regexp.MustCompile(`^(#|@|Feature:|Scenario:)`)

// maxOperations is the maximum number of operations in a sequence that Parse accepts.
const maxOperations = 200

// Parse reads a sequence of operations, one per line. It ignores empty lines, and comments, tags and headings of
// Gherkin.
func Parse(text string) ([]Operation, error) {
	var all []Operation
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || ignored.MatchString(line) {
			continue
		}
		o, err := parseOne(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, o)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no operation, such as %q", "When "+callers[first]+" creates thread A")
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
	object := objectName.FindStringSubmatch(parts[3])
	if object != nil {
		o.Object = int(object[2][0] - 'A')
	}
	number := numberName.FindStringSubmatch(parts[3])
	if number != nil {
		o.Number, _ = strconv.Atoi(number[2])
	}
	o.Verb = numberName.ReplaceAllString(objectName.ReplaceAllString(parts[3], "${1} T"), "${1} R")
	verb, with, _ := strings.Cut(o.Verb, " with ")
	if options[verb] != nil && options[verb].MatchString(with) {
		o.Verb, o.With = verb, with
	}
	if !slices.Contains(vocabulary, o.Verb) || o.Verb == update && o.With == "" {
		return Operation{}, fmt.Errorf("unknown operation %.80q; the operations are: %s", parts[3],
			strings.Join(vocabulary, "; "))
	}
	return o, nil
}
