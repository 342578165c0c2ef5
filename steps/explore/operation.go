package explore

import (
	"cmp"
	"fmt"
	"math/rand/v2"
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
	Number    int    // of the run, over all threads, or of the revision, from 1; 0 if the verb has none
	With      string // the fields of an update or the parameters of a list; "" for none
	Meanwhile bool   // it is sent at the same time as the operation before it
}

// The callers: those of the agent server, and that of the control plane.
const (
	first = iota
	second
	nobody
	unknown
	theClient
)

var callers = []string{"the first user", "the second user", "a caller without credentials",
	"a caller with an unknown token", "the client"}

// The vocabulary of the agent server: T stands for a thread, R for the number of a run.
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
	vocabulary = []string{create, start, startWaiting, rollBack, rollWaiting, startUnknown, await, retrieve, join,
		readState, list, deploy, update, settle, getDeployment, getRevision, listRevisions}
	starts = []string{start, startWaiting, rollBack, rollWaiting, startUnknown}
)

// options are the texts that may follow a verb. Value 1 is that of create.body, and value 2 that of alternatives.
var options = map[string]*regexp.Regexp{
	update:        listOf(`(?:repo_ref|graph_config_path|image_uri) (?:1|2|broken|null)|build_on_push false|nothing`),
	listRevisions: listOf(`status [A-Z_,]{1,99}|limit \d{1,3}|offset \d{1,3}`),
}

func listOf(one string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + one + `)(?: and (?:` + one + `))*$`)
}

// Of returns the operations of a sequence that are sent to a half of the interface. Operations that are sent at the
// same time still are, unless the others of their group are sent to the other half.
func Of(profile string, all []Operation) (own []Operation) {
	joinsGroup := false
	for _, o := range all {
		if !o.Meanwhile {
			joinsGroup = false
		}
		isOwn := (o.Caller == theClient) == (profile == features.ControlPlane)
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

// maxOperations is the maximum number of operations of a sequence that is read.
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

// maxThreads is the maximum number of threads of a sequence.
const maxThreads = 3

func (h *agentServer) sequence(random *rand.Rand, n int) (all []Operation) {
	for at := range 1 + random.IntN(maxThreads) {
		all = append(all, Operation{Caller: random.IntN(min(len(h.callers), second+1)), Verb: create, Object: at})
	}
	threads := len(all)
	var threadOf []int // the thread of each run
	for len(all) < n {
		o := Operation{Verb: threadVerbs[random.IntN(len(threadVerbs))], Object: random.IntN(threads)}
		switch {
		case slices.Contains(starts, o.Verb):
			threadOf = append(threadOf, o.Object)
			o.Number = len(threadOf)
		case (o.Verb == retrieve || o.Verb == join) && len(threadOf) > 0:
			o.Number = 1 + random.IntN(len(threadOf))
			if random.IntN(8) > 0 {
				o.Object = threadOf[o.Number-1]
			}
		}
		o.Caller = all[o.Object].Caller
		isForOwner := o.Verb == await || o.Verb == list || o.Verb == startUnknown
		if !isForOwner && random.IntN(6) == 0 {
			o.Caller = random.IntN(len(h.callers))
		}
		o.Meanwhile = o.Verb != await && random.IntN(4) == 0
		all = append(all, o)
	}
	return all
}

// threadVerbs and deploymentVerbs are the verbs to choose from. Frequent verbs are repeated.
var (
	threadVerbs = []string{readState, readState, start, start, start, startWaiting, startWaiting, rollBack, rollBack,
		rollWaiting, startUnknown, await, await, await, await, retrieve, retrieve, retrieve, join, join, list}
	deploymentVerbs = []string{update, update, update, update, settle, getDeployment, getRevision, getRevision,
		listRevisions, listRevisions}
)

func (h *controlPlane) sequence(random *rand.Rand, n int) []Operation {
	all := []Operation{{Caller: theClient, Verb: deploy}}
	if h.target.Config.MaxDeployments == 0 && random.IntN(4) == 0 {
		all = append(all, Operation{Caller: theClient, Verb: deploy, Object: 1})
	}
	deployments := len(all)
	for len(all) < n {
		o := Operation{Caller: theClient, Object: random.IntN(deployments)}
		o.Verb = deploymentVerbs[random.IntN(len(deploymentVerbs))]
		switch o.Verb {
		case update:
			o.With = cmp.Or(some(random, h.fields...), "nothing")
		case getRevision:
			o.Number = 1 + random.IntN(5)
		case listRevisions:
			o.With = some(random, statuses, []string{"limit 1", "limit 3"}, []string{"offset 1", "offset 2"})
		}
		o.Meanwhile = random.IntN(4) == 0
		all = append(all, o)
	}
	return all
}

// The values that updates set, by field, for a repository and for an image.
var (
	repositoryFields = [][]string{{"repo_ref 1", "repo_ref 2", "repo_ref broken", "repo_ref null"},
		{"graph_config_path 1", "graph_config_path 2", "graph_config_path null"}, {push}}
	imageFields = [][]string{{"image_uri 1", "image_uri 2", "image_uri broken", "image_uri null"}, {push}}
)

// statuses are the filters of lists.
var statuses = []string{"status DEPLOYED", "status SKIPPED", "status INTERRUPTED", "status UNKNOWN",
	"status DEPLOYED,SKIPPED", "status CREATE_FAILED,BUILD_FAILED,DEPLOY_FAILED"}

// some joins one random item from each of some random lists.
func some(random *rand.Rand, of ...[]string) string {
	var parts []string
	for _, list := range of {
		if random.IntN(2) == 0 {
			parts = append(parts, list[random.IntN(len(list))])
		}
	}
	return strings.Join(parts, " and ")
}
