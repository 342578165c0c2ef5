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

// enumsSeen returns the values of enumerations, each with its field, in new runs and in the recorded responses.
func (c *Collector) enumsSeen() map[[2]string]bool {
	seen := map[[2]string]bool{}
	note := func(field, body, path string) {
		for _, v := range gjson.Get(body, path).Array() {
			seen[[2]string{field, v.Str}] = true
		}
	}
	for _, o := range c.Observations() {
		if o.Op.ID == "create-run" {
			note("CreateRun.multitask_strategy", o.Request, "multitask_strategy")
		}
		if o.Op.ID == "" || o.Status >= 400 {
			continue
		}
		for field, paths := range enumPaths[o.Side] {
			for _, path := range paths {
				note(field, o.Response, path)
			}
		}
	}
	return seen
}

// Responses returns the responses of an operation with a status in [from, before), except those that only ask to wait.
func (c *Collector) Responses(operation string, from, before int) []*Observation {
	return c.which(func(o *Observation) bool {
		return o.Op.ID == operation && from <= o.Status && o.Status < before && o.HasAnswer()
	})
}

// Trusted counts the responses of a side to credentials of the configuration, by status. Requests that are wrong on
// purpose do not count, because they may be refused before the credentials are checked.
func (c *Collector) Trusted(side spec.Side) map[int]int { return c.TrustedOf(side, "") }

// TrustedOf counts like Trusted the responses to one caller, by the name of the caller.
func (c *Collector) TrustedOf(side spec.Side, caller string) map[int]int {
	all := map[int]int{}
	for _, o := range c.Observations() {
		if o.Trusted && o.Side == side && !o.Wrong && (caller == "" || o.Caller.Name == caller) {
			all[o.Status]++
		}
	}
	return all
}

// Statuses counts the responses of the sides by status and by content type.
func (c *Collector) Statuses(sides ...spec.Side) (statuses map[int]int, contentTypes map[string]int) {
	statuses, contentTypes = map[int]int{}, map[string]int{}
	for _, o := range c.Observations() {
		if o.Status != 0 && slices.Contains(sides, o.Side) {
			statuses[o.Status]++
			contentTypes[o.contentType]++
		}
	}
	return statuses, contentTypes
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

func kindOfRequest(op spec.Operation, raised, removable bool, against []spec.Violation) RequestKind {
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

// Unanswered returns the requests to a side that were sent before a time at which the server ended, and that got no
// response because of that.
func (c *Collector) Unanswered(side spec.Side, end time.Time) []*Observation {
	const noticed = time.Second // between the loss of a connection and the end of the process
	return c.which(func(o *Observation) bool {
		return o.Side == side && o.Status == 0 && o.Sent.Before(end) && o.GivenUp.After(end.Add(-noticed))
	})
}

// ServerErrorsTo returns those of these responses that have a status of 500 or above.
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
	cover := reports.Coverage{Operations: []reports.OperationCoverage{}, Statuses: []reports.StatusCoverage{},
		Parameters: []reports.ParameterCoverage{}, Enums: []reports.EnumCoverage{}}
	for _, side := range sides {
		for _, op := range c.oracle.Operations(side) {
			all := c.which(func(o *Observation) bool { return o.Op.ID == op.ID && o.Side == side })
			statuses, total := statusCoverage(op, all)
			cover.Operations = append(cover.Operations, reports.OperationCoverage{Operation: op.ID, Method: op.Method,
				Path: op.Path, Exchanges: total, Extension: op.Field})
			cover.Statuses = append(cover.Statuses, statuses...)
			for _, p := range op.Parameters {
				if p.In == "query" {
					cover.Parameters = append(cover.Parameters, reports.ParameterCoverage{Operation: op.ID,
						Parameter: p.Name, Values: c.valuesOf(p.Name, all)})
				}
			}
		}
	}
	enums, seen := c.oracle.Enums(), c.enumsSeen()
	for _, field := range slices.Sorted(maps.Keys(enums)) {
		e := reports.EnumCoverage{Field: field, Seen: []string{}, Unseen: []string{}}
		for _, v := range enums[field] {
			if seen[[2]string{field, v}] {
				e.Seen = append(e.Seen, v)
			} else {
				e.Unseen = append(e.Unseen, v)
			}
		}
		cover.Enums = append(cover.Enums, e)
	}
	return cover
}

// valuesOf returns the values that were sent for a parameter.
func (c *Collector) valuesOf(parameter string, all []*Observation) []string {
	values := map[string]bool{}
	for _, o := range all {
		query, err := url.ParseQuery(o.Query)
		if err != nil {
			continue
		}
		for _, v := range query[parameter] {
			if uuid.Validate(v) == nil {
				v = "<uuid>"
			}
			values[c.recorder.redact.Text(v)] = true
		}
	}
	return slices.Sorted(maps.Keys(values))
}

// statusCoverage counts the responses of an operation by status, and adds the declared statuses that were not seen.
func statusCoverage(op spec.Operation, all []*Observation) (list []reports.StatusCoverage, total int) {
	var unseen []string
	for _, declared := range op.Statuses {
		if declared != "default" {
			unseen = append(unseen, declared)
		}
	}
	counts := map[reports.StatusCoverage]int{}
	for _, o := range all {
		if o.Status == 0 {
			continue
		}
		status := strconv.Itoa(o.Status)
		declares := func(declared string) bool { return declared == status || declared == status[:1]+"XX" }
		unseen = slices.DeleteFunc(unseen, declares)
		total++
		counts[reports.StatusCoverage{Operation: op.ID, Status: status, ContentType: o.contentType,
			Declared: slices.ContainsFunc(op.Statuses, declares)}]++
	}
	for each, count := range counts {
		each.Count = count
		list = append(list, each)
	}
	for _, status := range unseen {
		list = append(list, reports.StatusCoverage{Operation: op.ID, Status: status, Declared: true})
	}
	slices.SortFunc(list, func(a, b reports.StatusCoverage) int {
		return cmp.Or(strings.Compare(a.Status, b.Status), strings.Compare(a.ContentType, b.ContentType))
	})
	return list, total
}
