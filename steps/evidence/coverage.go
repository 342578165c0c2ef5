package evidence

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
)

// enumPaths are the places of the interface's enumerations, by the side whose answers hold them.
var enumPaths = map[spec.Side]map[string][]string{
	spec.ControlPlane: {
		"Revision.status": {"status", "resources.#.status"},
		"Revision.source": {"source", "resources.#.source"},
	},
	spec.AgentServer: {"Message.type": {"values.messages.#.type"}},
}

// enumsSeen are the texts at the places of enumerations, each with its field, in runs and in answers as far as these
// were kept.
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
				note(field, o.Answer, path)
			}
		}
	}
	return seen
}

// Answers returns the answers to an operation with a status from one to before another, but for those that only ask to
// come back later.
func (c *Collector) Answers(operation string, from, before int) []Observation {
	return c.which(func(o *Observation) bool {
		return o.Op.ID == operation && from <= o.Status && o.Status < before && o.HasAnswer()
	})
}

// Trusted counts the answers of a side to credentials of the configuration, by status. What is wrong with a request on
// purpose may be refused before the credentials are looked at: it does not count.
func (c *Collector) Trusted(side spec.Side) map[int]int {
	all := map[int]int{}
	for _, o := range c.which(func(o *Observation) bool { return o.Trusted && o.Side == side && !o.Wrong }) {
		all[o.Status]++
	}
	return all
}

// Statuses counts the answers of the sides by status, and how many had each content type.
func (c *Collector) Statuses(sides ...spec.Side) (statuses map[int]int, contentTypes map[string]int) {
	statuses, contentTypes = map[int]int{}, map[string]int{}
	for _, o := range c.which(func(o *Observation) bool { return o.Status != 0 && slices.Contains(sides, o.Side) }) {
		statuses[o.Status]++
		contentTypes[o.contentType]++
	}
	return statuses, contentTypes
}

// Asked says what a request was that was answered: the interface says how one that keeps the contract is answered
// (section 4), and how one with invalid parameters (section 7), and nothing of any other.
type Asked int

// What requests are, by what the contract says against them.
const (
	Kept      Asked = iota // nothing
	Parameter              // a parameter of the control plane is invalid
	Broken                 // anything else; the operation is not one of the interface, or its run may have been removed
	Raised                 // nothing, and it joins a run whose graph raised an error: how that ends is not said
)

func askedOf(op spec.Operation, raised, removable bool, against []spec.Violation) Asked {
	isOther := func(v spec.Violation) bool {
		return !strings.HasPrefix(v.Pointer, "/query") && !strings.HasPrefix(v.Pointer, "/path")
	}
	switch {
	case op.ID == "" || op.Field || removable:
		return Broken
	case len(against) == 0 && raised:
		return Raised
	case len(against) == 0:
		return Kept
	case op.Side == spec.ControlPlane && !slices.ContainsFunc(against, isOther):
		return Parameter
	}
	return Broken
}

// AnswersTo returns the answers of a side to requests of the kinds.
func (c *Collector) AnswersTo(side spec.Side, kinds ...Asked) []Observation {
	return c.which(func(o *Observation) bool { return o.Side == side && o.HasAnswer() && slices.Contains(kinds, o.asked) })
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
	cover := reports.Coverage{Operations: []reports.OperationCoverage{}, Statuses: []reports.StatusCoverage{},
		Parameters: []reports.ParameterCoverage{}, Enums: []reports.EnumCoverage{}}
	for _, side := range sides {
		for _, op := range c.oracle.Operations(side) {
			all := c.which(func(o *Observation) bool { return o.Op.ID == op.ID && o.Side == side })
			statuses, total := statusCoverage(op, all)
			cover.Operations = append(cover.Operations, reports.OperationCoverage{Operation: op.ID, Method: op.Method,
				Path: op.Path, Exchanges: total})
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

// valuesOf are the values with which a parameter was sent.
func (c *Collector) valuesOf(parameter string, all []Observation) []string {
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

// statusCoverage counts the answers to an operation by status, and lists the declared statuses that none had.
func statusCoverage(op spec.Operation, all []Observation) (list []reports.StatusCoverage, total int) {
	unseen := slices.DeleteFunc(slices.Clone(op.Statuses), func(declared string) bool { return declared == "default" })
	counts := map[reports.StatusCoverage]int{}
	for _, o := range all {
		if o.Status == 0 {
			continue
		}
		status := strconv.Itoa(o.Status)
		isIt := func(declared string) bool { return declared == status || declared == status[:1]+"XX" }
		unseen = slices.DeleteFunc(unseen, isIt)
		total++
		counts[reports.StatusCoverage{Operation: op.ID, Status: status, ContentType: o.contentType,
			Declared: slices.ContainsFunc(op.Statuses, isIt)}]++
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
