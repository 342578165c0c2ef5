package deviate

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.yaml.in/yaml/v4"
)

// Row is a fault or an equivalent mutant. One of Name and Equivalent is set.
type Row struct {
	Name       string            `yaml:"fault"`      // the name of a fault
	Equivalent string            `yaml:"equivalent"` // the name of an equivalent mutant
	Breaks     string            `yaml:"breaks"`     // what a client of the fault observes, in a sentence
	Differs    string            `yaml:"differs"`    // what a client of the equivalent mutant observes, in a sentence
	Fails      string            `yaml:"fails"`      // the ID of the requirement that the fault breaks
	Also       map[string]string `yaml:"also"`       // further requirements that fail, each with the reason
	Unjudged   map[string]string `yaml:"unjudged"`   // requirements that an equivalent mutant leaves unjudged, each with the reason
	Edition    string            `yaml:"edition"`
	Place      string            `yaml:"place"`     // what an equivalent mutant changes, in a few words
	Pace       time.Duration     `yaml:"pace"`      // how long a revision keeps each status
	Queued     time.Duration     `yaml:"queued"`    // how long the third run of a thread is pending
	Hangs      bool              `yaml:"hangs"`     // requests wait for their timeout: the self-test starts with this row
	Once       bool              `yaml:"once"`      // a server deviates only once
	Elsewhere  bool              `yaml:"elsewhere"` // only scenarios of other requirements show the fault
	Explored   bool              `yaml:"explored"`  // only exploration finds the fault
	Situation  bool              `yaml:"situation"` // only scenarios about situations find the fault
	Config     map[string]any    `yaml:"config"`    // configuration keys of the test run
	Changes    []Change          `yaml:"changes"`
	Change     `yaml:",inline"`

	Where string `yaml:"-"` // file and line
}

// Change is a change of some operations.
type Change struct {
	When texts `yaml:"when"` // operations, then conditions; see the package documentation
	Do   texts `yaml:"do"`

	// Instead returns a handler that replaces next. With it, conditions can only read the request.
	Instead func(next http.Handler) http.Handler `yaml:"-"`

	operations []string
	anyStatus  bool        // a condition reads the status; otherwise only successful responses are changed
	before     bool        // a text reads the deployment before the request
	onRequest  []condition // conditions that read only the request
	onResponse []condition // conditions that read the response, and those after them
	acts       []act
	flags      flags
}

// texts is one text or a list of texts.
type texts []string

// UnmarshalYAML reads one text or a list of texts.
func (t *texts) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*t = texts{node.Value}
		return nil
	}
	var all []string
	err := node.Decode(&all)
	*t = all
	return err
}

// loader reads the changes of a row.
type loader struct {
	operations []string // operations of the change
	declared   []string // places that "new" declares
	keys       int      // the number of keys in use
	late       bool     // a condition of the change reads the response

	// The parts that the places so far read.
	response, status, before bool
}

// newKey returns a key for the memory that is unique in the row.
func (l *loader) newKey() string {
	l.keys++
	return fmt.Sprintf("%d ", l.keys)
}

// New returns a row with one change.
func New(name string, when, do []string) (*Row, error) {
	row := &Row{Name: name, Changes: []Change{{When: when, Do: do}}}
	return row, row.Read()
}

// Read reads the texts of the row's changes. It must be called before [Row.Around].
func (row *Row) Read() error {
	l := &loader{}
	for i := range row.Changes {
		if err := l.change(&row.Changes[i]); err != nil {
			return fmt.Errorf("%s%s: %w", row.Name, row.Equivalent, err)
		}
	}
	return nil
}

// Load reads the rows of a file. Errors name the file and the line.
func Load(name string, text []byte) ([]*Row, error) {
	rows, err := Describe(name, text)
	for _, row := range rows {
		if err := row.Read(); err != nil {
			return nil, fmt.Errorf("%s: %w", row.Where, err)
		}
	}
	return rows, err
}

// Describe reads the rows of a file like [Load], but not their changes.
func Describe(name string, text []byte) ([]*Row, error) {
	var nodes []yaml.Node
	if err := yaml.Unmarshal(text, &nodes); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var rows []*Row
	for i := range nodes {
		row, err := load(&nodes[i])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, nodes[i].Line, err)
		}
		row.Where = fmt.Sprintf("%s:%d", name, nodes[i].Line)
		rows = append(rows, row)
	}
	return rows, nil
}

func load(node *yaml.Node) (*Row, error) {
	row := &Row{}
	if err := node.Load(row, yaml.WithKnownFields()); err != nil {
		return nil, err
	}
	if err := row.check(); err != nil {
		return nil, err
	}
	if len(row.When) > 0 {
		row.Changes = []Change{row.Change}
	}
	return row, nil
}

// check returns an error if keys are missing or cannot be combined.
func (row *Row) check() error {
	switch {
	case (row.Equivalent == "") == (row.Name == ""):
		return errors.New("set either fault or equivalent")
	case row.Equivalent != "" && row.Differs == "":
		return fmt.Errorf("%s: differs is missing", row.Equivalent)
	case row.Equivalent != "" && row.Breaks+row.Fails != "":
		return fmt.Errorf("%s: remove breaks and fails: an equivalent mutant breaks no requirement", row.Equivalent)
	case row.Name != "" && (row.Breaks == "" || row.Fails == ""):
		return fmt.Errorf("%s: a fault needs breaks and fails", row.Name)
	case row.Name != "" && row.Differs+row.Place != "":
		return fmt.Errorf("%s: remove differs and place: only an equivalent mutant has them", row.Name)
	case len(row.When) > 0 && len(row.Changes) > 0 || len(row.When)+len(row.Changes) == 0:
		return fmt.Errorf("%s%s: set either when and do, or changes", row.Name, row.Equivalent)
	}
	return nil
}

func (l *loader) change(c *Change) error {
	*l = loader{keys: l.keys}
	if len(c.When) == 0 {
		return errors.New(`when is missing: it starts with an operation, or "all"`)
	}
	for id := range strings.SplitSeq(c.When[0], " or ") {
		some, err := Documents().named(id)
		if err != nil {
			return err
		}
		l.operations = append(l.operations, some...)
	}
	c.operations = l.operations
	for _, text := range c.When[1:] {
		holds, err := l.condition(text)
		if err != nil {
			return fmt.Errorf("when %s: %w", text, err)
		}
		l.late = l.response
		if l.late {
			c.onResponse = append(c.onResponse, holds)
		} else {
			c.onRequest = append(c.onRequest, holds)
		}
	}
	c.anyStatus = l.status
	switch {
	case c.Instead != nil && len(c.onResponse) > 0:
		return errors.New("a condition reads the response of the reference, which is not requested")
	case c.Instead == nil && len(c.Do) == 0:
		return errors.New("do is missing")
	}
	for _, text := range c.Do {
		parsed, err := l.act(text, &c.flags)
		if err != nil {
			return fmt.Errorf("do %s: %w", text, err)
		}
		if parsed.apply != nil {
			c.acts = append(c.acts, parsed)
		}
	}
	if c.flags.asOwner { // nothing can change before an owner is known
		c.onRequest = append(c.onRequest, func(x *exchange) bool { return len(x.memory.owner(x)) > 0 })
	}
	c.before = l.before
	return nil
}

// place reads a place. One of the operations of the change must have it, unless "new" declares it.
func (l *loader) place(text string) (place, error) {
	p, err := parsePlace(text)
	if err != nil {
		return nil, err
	}
	l.response = l.response || p.inResponse()
	l.status = l.status || p.hasRoot("status")
	l.before = l.before || p.hasRoot("before")
	for _, declared := range l.declared {
		if text == declared || strings.HasPrefix(text, declared+".") {
			return p, nil
		}
	}
	return p, Documents().check(p, l.operations)
}

// Count is the number of exchanges that a row has changed.
type Count = atomic.Int64

// Around returns a handler that serves next with the changes of the row, and counts the changed exchanges.
func (row *Row) Around(next http.Handler, count *Count) http.Handler {
	m := newMemory()
	handler := learning(m, next)
	for i := range row.Changes {
		handler = row.Changes[i].around(m, handler, count)
	}
	return handler
}

// learning returns a handler that records successful exchanges in the memory.
func learning(m *memory, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op := OperationOf(r)
		if op.Path == "" {
			next.ServeHTTP(w, r)
			return
		}
		x := newExchange(r, op, next, m)
		x.response = Capture(next, x.original())
		if x.response.Status < 300 {
			m.learn(x)
		}
		x.response.Send(w)
	})
}

func (c *Change) around(m *memory, next http.Handler, count *Count) http.Handler {
	var instead http.Handler
	if c.Instead != nil {
		instead = c.Instead(next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op := OperationOf(r)
		if !slices.Contains(c.operations, op.ID) {
			next.ServeHTTP(w, r)
			return
		}
		x := newExchange(r, op, next, m)
		x.count = count
		if !x.meets(c.onRequest) {
			next.ServeHTTP(w, x.original())
			return
		}
		if instead != nil {
			instead.ServeHTTP(w, x.original())
			return
		}
		c.serve(x)
		if x.response != nil {
			x.send(w)
		}
	})
}

// serve sets the response of the exchange, with the changes of the response. The response is nil if the client gets none.
func (c *Change) serve(x *exchange) {
	if c.before {
		x.load("before")
	}
	var first *Response
	if len(c.onResponse) > 0 {
		first = Capture(x.next, x.original())
		x.setResponse(first)
		if !x.meets(c.onResponse) {
			return
		}
	}
	if !c.wait(x) {
		return
	}
	x.response = nil
	c.changeRequest(x)
	x.setResponse(c.exchange(x, first))
	if c.anyStatus || x.response.Status < 300 {
		for _, keep := range x.later {
			keep()
		}
	}
	c.changeResponse(x)
}

// exchange serves the changed request and returns the response that is sent. first is the response to the original
// request, or nil if it was not served.
func (c *Change) exchange(x *exchange, first *Response) *Response {
	if c.flags.unserved {
		x.changed = true
		return &Response{Status: http.StatusOK, Header: http.Header{}}
	}
	if first != nil && !c.changesRequest() {
		return first
	}
	changed := Capture(x.next, x.request())
	isSame := first != nil && changed.Status == first.Status && bytes.Equal(changed.Body, first.Body)
	if c.flags.beside && first == nil || c.flags.asOwner && !isSame {
		x.changed = true
	}
	if !c.flags.beside {
		return changed
	}
	if first == nil {
		first = Capture(x.next, x.original())
	}
	return first
}

// changesRequest reports whether the server must serve a changed request.
func (c *Change) changesRequest() bool {
	isOnRequest := func(a act) bool { return a.onRequest }
	return c.flags.asOwner || c.flags.beside || slices.ContainsFunc(c.acts, isOnRequest)
}

// wait delays the response. It returns false if no response is sent.
func (c *Change) wait(x *exchange) bool {
	gone := x.r.Context().Done()
	delay := c.flags.delay
	if c.flags.until != nil {
		at, _ := x.at(c.flags.until, slot{})
		then, err := time.Parse(time.RFC3339Nano, textOf(at))
		if err == nil {
			delay = time.Until(then)
		}
	}
	x.changed = c.flags.hang || c.flags.close || delay > 0
	x.tally()
	if c.flags.close {
		panic(http.ErrAbortHandler)
	}
	if c.flags.hang {
		<-gone
		x.response = nil
		return false
	}
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-gone:
		}
	}
	return true
}
