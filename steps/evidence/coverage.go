package evidence

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

type answerKind struct {
	side        spec.Side
	operation   string
	status      int
	contentType string
}

type parameter struct{ operation, name string }

// keptAnswers bounds how many error answers of one operation and status are kept for rules that judge them all, and keptBodies the
// bodies of all of them, in bytes.
const keptAnswers, keptBodies = 256, 8 << 20

// seen is what was answered to what.
type seen struct {
	oracle *spec.Oracle
	redact *client.Redactor

	keptBytes    int // of bodies in errorAnswers
	errorAnswers map[string][]*client.Answer
	answers      map[answerKind]int
	busy         map[answerKind]int // of these, how many asked to come back later
	parameters   map[parameter]map[string]bool
	enums        map[string]map[string]bool
	asked        map[askedKind]int
	failures     map[failureKind]*Failure
}

func newSeen(oracle *spec.Oracle, redact *client.Redactor) seen {
	return seen{
		oracle: oracle, redact: redact, errorAnswers: map[string][]*client.Answer{}, answers: map[answerKind]int{}, busy: map[answerKind]int{},
		parameters: map[parameter]map[string]bool{}, enums: map[string]map[string]bool{}, asked: map[askedKind]int{}, failures: map[failureKind]*Failure{},
	}
}

// enumPaths are the places of the interface's enumerations in answers.
var enumPaths = map[string][]string{
	"Revision.status": {"status", "resources.#.status"},
	"Revision.source": {"source", "resources.#.source"},
	"Message.type":    {"values.messages.#.type"},
}

// sentEnums says, by operation, where in requests the values of those enumerations stand that only a client uses.
var sentEnums = map[string]map[string]string{"create-run": {"CreateRun.multitask_strategy": "multitask_strategy"}}

// noteTouched notes what one exchange touched, and what the contract says against its request.
func (c *Collector) noteTouched(id int, o *observed, against []spec.Violation) {
	x := &o.Exchange
	op := o.op
	if !o.known {
		op = spec.Operation{ID: x.Method + " " + o.Path, Side: o.Side}
	}
	if o.known {
		c.coverParameters(op, o.Query)
	}
	for field, values := range o.Enums {
		c.coverValues(field, values)
	}
	if !o.answered() {
		return
	}
	kind := answerKind{o.Side, op.ID, x.Status, o.contentType()}
	c.answers[kind]++
	if o.asksToWait() || o.tooEarly() {
		c.busy[kind]++ // obeyed, and counted with what asked to wait, or too early; no failure of the target
		return
	}
	c.noteAnswer(op, id, o, against)
	if x.Status >= 400 && o.answer != nil {
		key := op.ID + " " + strconv.Itoa(x.Status)
		size := len(o.answer.Body)
		if len(c.errorAnswers[key]) < keptAnswers && size <= keptBody && c.keptBytes+size <= keptBodies {
			c.errorAnswers[key] = append(c.errorAnswers[key], kept(o.answer, id))
			c.keptBytes += size
		}
	}
}

// kept is an answer under the id of its exchange.
func kept(a *client.Answer, id int) *client.Answer {
	same := *a
	same.ID = id
	return &same
}

func (c *Collector) coverParameters(op spec.Operation, sent string) {
	query, err := url.ParseQuery(sent)
	if err != nil {
		return
	}
	for name, values := range query {
		key := parameter{op.ID, name}
		if c.parameters[key] == nil {
			c.parameters[key] = map[string]bool{}
		}
		for _, v := range values {
			if _, err := uuid.Parse(v); err == nil {
				v = "<uuid>"
			}
			c.parameters[key][c.redact.Text(v)] = true
		}
	}
}

func (c *Collector) coverValues(field string, values []string) {
	if c.enums[field] == nil {
		c.enums[field] = map[string]bool{}
	}
	for _, v := range values {
		c.enums[field][v] = true
	}
}

// ErrorAnswers returns the answers of an operation with a status, as far as they were kept.
func (c *Collector) ErrorAnswers(operation string, status int) []*client.Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.errorAnswers[operation+" "+strconv.Itoa(status)])
}

// Answered counts the answers to an operation that the contract has something to say about: not those that only asked to
// come back later, and no server errors.
func (c *Collector) Answered(operation string) int { return c.count(operation, 500) }

// Succeeded counts the answers to an operation with a status of success.
func (c *Collector) Succeeded(operation string) int { return c.count(operation, 300) }

// count counts the answers with a status below the one given.
func (c *Collector) count(operation string, below int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for kind, count := range c.answers {
		if kind.operation == operation && kind.status < below {
			n += count - c.busy[kind]
		}
	}
	return n
}

// Statuses counts the answers of both sides by status, and how many had each content type.
func (c *Collector) Statuses() (statuses map[int]int, contentTypes map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	statuses, contentTypes = map[int]int{}, map[string]int{}
	for kind, count := range c.answers {
		statuses[kind.status] += count
		contentTypes[kind.contentType] += count
	}
	return statuses, contentTypes
}

// Operation is the operation of the contract with the ID, one without an ID where there is none.
func (c *Collector) Operation(side spec.Side, id string) (found spec.Operation) {
	for _, op := range c.oracle.Operations(side) {
		if op.ID == id {
			found = op
		}
	}
	return found
}

// Coverage returns what of the contract of the given sides the run has touched.
func (c *Collector) Coverage(sides ...spec.Side) reports.Coverage {
	c.mu.Lock()
	defer c.mu.Unlock()
	cover := reports.Coverage{Operations: []reports.OperationCoverage{}, Statuses: []reports.StatusCoverage{},
		Parameters: []reports.ParameterCoverage{}, Enums: []reports.EnumCoverage{}}
	for _, side := range sides {
		for _, op := range c.oracle.Operations(side) {
			statuses, total := c.statusCoverage(op)
			cover.Operations = append(cover.Operations, reports.OperationCoverage{Operation: op.ID, Method: op.Method, Path: op.Path, Exchanges: total})
			cover.Statuses = append(cover.Statuses, statuses...)
			for _, p := range op.Parameters {
				if values := c.parameters[parameter{op.ID, p.Name}]; p.In == "query" {
					cover.Parameters = append(cover.Parameters, reports.ParameterCoverage{Operation: op.ID, Parameter: p.Name, Values: slices.Sorted(maps.Keys(values))})
				}
			}
		}
	}
	enums := c.oracle.Enums()
	for _, field := range slices.Sorted(maps.Keys(enums)) {
		e := reports.EnumCoverage{Field: field, Seen: []string{}, Unseen: []string{}}
		for _, v := range enums[field] {
			if c.enums[field][v] {
				e.Seen = append(e.Seen, v)
			} else {
				e.Unseen = append(e.Unseen, v)
			}
		}
		cover.Enums = append(cover.Enums, e)
	}
	return cover
}

func (c *Collector) statusCoverage(op spec.Operation) (list []reports.StatusCoverage, total int) {
	declared := map[string]bool{}
	for _, r := range op.Responses {
		declared[r.Status] = true
	}
	came := map[string]bool{}
	for kind, count := range c.answers {
		if kind.operation != op.ID || kind.side != op.Side {
			continue
		}
		status := strconv.Itoa(kind.status)
		class := status[:1] + "XX"
		came[status], came[class] = true, true
		total += count
		list = append(list, reports.StatusCoverage{Operation: op.ID, Status: status, ContentType: kind.contentType,
			Declared: declared[status] || declared[class], Count: count})
	}
	for status := range declared {
		if !came[status] && status != "default" {
			list = append(list, reports.StatusCoverage{Operation: op.ID, Status: status, Declared: true})
		}
	}
	slices.SortFunc(list, func(a, b reports.StatusCoverage) int {
		return cmp.Or(strings.Compare(a.Status, b.Status), strings.Compare(a.ContentType, b.ContentType))
	})
	return list, total
}
