package evidence

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// Asked says what a request was that was answered: the interface says how one that keeps the contract is answered (section 4),
// and how one with invalid parameters (section 7), and nothing of any other.
type Asked int

// What requests are, by what the contract says against them.
const (
	Kept      Asked = iota // nothing
	Parameter              // a parameter of the control plane is invalid
	Broken                 // anything else; or the operation is not one of the interface
	Raised                 // nothing, and it joins a run whose graph raised an error: the interface does not say how that ends
)

type askedKind struct {
	side  spec.Side
	asked Asked
}

type failureKind struct {
	asked     Asked
	side      spec.Side
	operation string
	status    int
}

// Failure is an operation that the target answered with a server error.
type Failure struct {
	Operation string
	Status    int
	Count     int
	Answer    *client.Answer // the first, or nil when it was too large to keep
}

// noteAnswer notes an answer that did not only ask to wait. The caller holds the lock.
func (c *Collector) noteAnswer(op spec.Operation, id int, o *observed, against []spec.Violation) {
	asked, status := askedOf(op, o, against), o.Exchange.Status
	c.asked[askedKind{op.Side, asked}]++
	if status < http.StatusInternalServerError {
		return
	}
	key := failureKind{asked, op.Side, op.ID, status}
	f := c.failures[key]
	if f == nil {
		f = &Failure{Operation: op.ID, Status: status}
		if a := o.answer; a != nil && len(a.Body) <= keptBody {
			f.Answer = &client.Answer{Request: a.Request, Status: a.Status, Header: a.Header, Body: a.Body, ID: id}
		}
		c.failures[key] = f
	}
	f.Count++
}

func askedOf(op spec.Operation, o *observed, against []spec.Violation) Asked {
	inParameter := func(v spec.Violation) bool {
		return strings.HasPrefix(v.Pointer, "/query") || strings.HasPrefix(v.Pointer, "/path")
	}
	switch {
	case op.Path == "" || op.Field:
		return Broken
	case len(against) == 0 && o.Raised && o.Exchange.Status == http.StatusInternalServerError:
		return Raised
	case len(against) == 0:
		return Kept
	case op.Side == spec.ControlPlane && !slices.ContainsFunc(against, func(v spec.Violation) bool { return !inParameter(v) }):
		return Parameter
	}
	return Broken
}

// ServerErrors returns how many answers of a side came to requests of the kinds, and those with a status of 500 and above, by
// operation and status.
func (c *Collector) ServerErrors(side spec.Side, kinds ...Asked) (answers int, failures []Failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, asked := range kinds {
		answers += c.asked[askedKind{side, asked}]
	}
	for key, f := range c.failures {
		if key.side == side && slices.Contains(kinds, key.asked) {
			failures = append(failures, *f)
		}
	}
	slices.SortFunc(failures, func(a, b Failure) int {
		return cmp.Or(strings.Compare(a.Operation, b.Operation), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Count, b.Count))
	})
	return answers, failures
}
