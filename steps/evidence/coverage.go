package evidence

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
)

// enumPaths are the paths of the interface's enumerations in responses, by side.
var enumPaths = map[spec.Side]map[string][]string{
	spec.ControlPlane: {
		"Revision.status": {"status", "resources.#.status"},
		"Revision.source": {"source", "resources.#.source"},
	},
	spec.AgentServer: {"Message.type": {"values.messages.#.type"}},
}

// covered has the parts of the contract that the exchanges of a test run have covered.
type covered struct {
	statuses map[coveredStatus]int
	values   map[coveredParameter]map[string]bool // values sent for a query parameter
	enums    map[[2]string]bool                   // values of enumerations, each with its field, in new runs and in responses
}

type coveredStatus struct {
	side                   spec.Side
	operation, contentType string
	status                 int
}

type coveredParameter struct {
	side                 spec.Side
	operation, parameter string
}

func newCovered() covered {
	return covered{map[coveredStatus]int{}, map[coveredParameter]map[string]bool{}, map[[2]string]bool{}}
}

func (c *covered) note(o *Observation) {
	if o.Op.ID == "" {
		return
	}
	if o.Status != 0 {
		c.statuses[coveredStatus{o.Side, o.Op.ID, o.contentType, o.Status}]++
	}
	c.noteValues(o)
	if o.Op.ID == "create-run" {
		c.noteEnum("CreateRun.multitask_strategy", o.Request, "multitask_strategy")
	}
	if o.Status >= 400 {
		return
	}
	for field, paths := range enumPaths[o.Side] {
		for _, path := range paths {
			c.noteEnum(field, o.Response, path)
		}
	}
}

func (c *covered) noteEnum(field, body, path string) {
	const longest = 64 // bytes of a value of the interface
	for _, v := range gjson.Get(body, path).Array() {
		at := [2]string{field, v.Str}
		if len(v.Str) <= longest && !c.enums[at] {
			c.enums[[2]string{field, strings.Clone(v.Str)}] = true // a substring would keep the body in memory
		}
	}
}

// noteValues adds the values of the query parameters. All IDs count as one value.
func (c *covered) noteValues(o *Observation) {
	query, err := url.ParseQuery(o.Query)
	if err != nil {
		return
	}
	for _, p := range o.Op.Parameters {
		if p.In != "query" {
			continue
		}
		at := coveredParameter{o.Side, o.Op.ID, p.Name}
		if c.values[at] == nil {
			c.values[at] = map[string]bool{}
		}
		for _, v := range query[p.Name] {
			if uuid.Validate(v) == nil {
				v = "<uuid>"
			}
			c.values[at][v] = true
		}
	}
}

// Served reports whether an operation has returned 2xx in the test run.
func (c *Collector) Served(op spec.Operation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at := range c.covered.statuses {
		if at.side == op.Side && at.operation == op.ID && at.status/100 == 2 {
			return true
		}
	}
	return false
}

// Responses returns the responses of an operation with a status in [from, before). It omits responses that only ask the
// client to wait.
func (c *Collector) Responses(operation string, from, before int) []*Observation {
	return c.which(func(o *Observation) bool {
		return o.Op.ID == operation && from <= o.Status && o.Status < before && o.HasAnswer()
	})
}

// Trusted counts the responses of a side at the address to credentials of the configuration, by status. An empty address
// stands for all. Requests that break the contract on purpose do not count, because they may be refused before the
// credentials are checked.
func (c *Collector) Trusted(side spec.Side, address string) map[int]int {
	return c.TrustedOf(side, address, "")
}

// TrustedOf is like Trusted, but counts only the responses to the caller with the name. An empty name stands for all.
func (c *Collector) TrustedOf(side spec.Side, address, caller string) map[int]int {
	all := map[int]int{}
	for _, o := range c.Observations() {
		if !o.Past && o.Trusted && o.IsAt(side, address) && !o.Wrong && (caller == "" || o.Caller.Name == caller) {
			all[o.Status]++
		}
	}
	return all
}

// Statuses counts the responses of a side at the address by status, and the responses that are HTML pages. An empty
// address stands for all.
func (c *Collector) Statuses(side spec.Side, address string) (statuses map[int]int, pages int) {
	statuses = map[int]int{}
	for _, o := range c.Observations() {
		if !o.Past && o.Status != 0 && o.IsAt(side, address) {
			statuses[o.Status]++
			if o.contentType == "text/html" {
				pages++
			}
		}
	}
	return statuses, pages
}

// RequestKind classifies requests. The interface defines the responses to valid requests (section 4) and to requests
// with invalid parameters (section 7) only.
type RequestKind int

// The kinds of requests, by their contract violations.
const (
	Kept      RequestKind = iota // the request is valid
	Parameter                    // a parameter of the control plane is invalid
	Broken                       // any other violation; or an unknown operation; or its run may have been removed
	Raised                       // a valid join of a run whose graph raised an error; the interface does not define its response
)

func kindOfRequest(op *spec.Operation, raised, removable bool, against []spec.Violation) RequestKind {
	isOther := func(v spec.Violation) bool {
		return !strings.HasPrefix(v.Pointer, "/query") && !strings.HasPrefix(v.Pointer, "/path")
	}
	switch {
	case op.ID == "" || op.Field:
		return Broken
	case len(against) == 0 && raised: // also if its run may have been removed
		return Raised
	case removable:
		return Broken
	case len(against) == 0:
		return Kept
	case op.Side == spec.ControlPlane && !slices.ContainsFunc(against, isOther):
		return Parameter
	}
	return Broken
}

// ResponsesTo returns the responses of a side to requests of the kinds.
func (c *Collector) ResponsesTo(side spec.Side, kinds ...RequestKind) []*Observation {
	return c.which(func(o *Observation) bool { return o.Side == side && o.HasAnswer() && slices.Contains(kinds, o.asked) })
}

// Unanswered returns the requests to a side that got no response because the server ended. They were sent before the end.
func (c *Collector) Unanswered(side spec.Side, end time.Time) []*Observation {
	const noticed = time.Second // time between the loss of a connection and the end of the process
	return c.which(func(o *Observation) bool {
		return o.Side == side && o.Status == 0 && o.Sent.Before(end) && o.GivenUp.After(end.Add(-noticed))
	})
}

// ServerErrorsTo returns the responses of a side to requests of the kinds that have a status of 500 or above.
func (c *Collector) ServerErrorsTo(side spec.Side, kinds ...RequestKind) []*Observation {
	return c.which(func(o *Observation) bool {
		return o.Status >= http.StatusInternalServerError && o.Side == side && o.HasAnswer() && slices.Contains(kinds, o.asked)
	})
}

// Operation returns the operation of the contract with the ID, or an operation without an ID.
func (c *Collector) Operation(side spec.Side, id string) (found spec.Operation) {
	for _, op := range c.oracle.Operations(side) {
		if op.ID == id {
			found = op
		}
	}
	return found
}

// Coverage returns the parts of the contract of the sides that the test run has covered.
func (c *Collector) Coverage(sides ...spec.Side) reports.Coverage {
	c.mu.Lock()
	defer c.mu.Unlock()
	cover := reports.Coverage{Operations: []reports.OperationCoverage{}, Statuses: []reports.StatusCoverage{},
		Parameters: []reports.ParameterCoverage{}, Enums: []reports.EnumCoverage{}}
	for _, side := range sides {
		for _, op := range c.oracle.Operations(side) {
			statuses, total := c.covered.statusesOf(op)
			cover.Operations = append(cover.Operations, reports.OperationCoverage{Operation: op.ID, Method: op.Method,
				Path: op.Path, Exchanges: total, Extension: op.Field})
			cover.Statuses = append(cover.Statuses, statuses...)
			for _, p := range op.Parameters {
				if p.In == "query" {
					cover.Parameters = append(cover.Parameters, reports.ParameterCoverage{Operation: op.ID,
						Parameter: p.Name, Values: c.valuesOf(coveredParameter{op.Side, op.ID, p.Name})})
				}
			}
		}
	}
	enums := c.oracle.Enums()
	for _, field := range slices.Sorted(maps.Keys(enums)) {
		e := reports.EnumCoverage{Field: field, Seen: []string{}, Unseen: []string{}}
		for _, v := range enums[field] {
			if c.covered.enums[[2]string{field, v}] {
				e.Seen = append(e.Seen, v)
			} else {
				e.Unseen = append(e.Unseen, v)
			}
		}
		cover.Enums = append(cover.Enums, e)
	}
	return cover
}

// valuesOf returns the values that were sent for a parameter, without secrets.
func (c *Collector) valuesOf(at coveredParameter) []string {
	values := map[string]bool{}
	for v := range c.covered.values[at] {
		values[c.recorder.redact.Text(v)] = true
	}
	return slices.Sorted(maps.Keys(values))
}

// statusesOf returns how often an operation returned each status, and the declared statuses that it did not return.
func (c *covered) statusesOf(op spec.Operation) (list []reports.StatusCoverage, total int) {
	var unseen []string
	for _, declared := range op.Statuses {
		if declared != "default" {
			unseen = append(unseen, declared)
		}
	}
	for at, count := range c.statuses {
		if at.side != op.Side || at.operation != op.ID {
			continue
		}
		status := strconv.Itoa(at.status)
		declares := func(declared string) bool { return declared == status || declared == status[:1]+"XX" }
		unseen = slices.DeleteFunc(unseen, declares)
		total += count
		list = append(list, reports.StatusCoverage{Operation: op.ID, Status: status, ContentType: at.contentType,
			Declared: slices.ContainsFunc(op.Statuses, declares), Count: count})
	}
	for _, status := range unseen {
		list = append(list, reports.StatusCoverage{Operation: op.ID, Status: status, Declared: true})
	}
	slices.SortFunc(list, func(a, b reports.StatusCoverage) int {
		return cmp.Or(strings.Compare(a.Status, b.Status), strings.Compare(a.ContentType, b.ContentType))
	})
	return list, total
}
