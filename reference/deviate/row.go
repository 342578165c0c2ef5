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

// Row is a fault or an equivalent mutant.
type Row struct {
	Name       string            `yaml:"fault"`
	Equivalent string            `yaml:"equivalent"` // its name, of an equivalent mutant
	Breaks     string            `yaml:"breaks"`     // what a client observes, in a sentence
	Differs    string            `yaml:"differs"`    // the same of an equivalent mutant
	Fails      string            `yaml:"fails"`      // ID of the requirement
	Also       map[string]string `yaml:"also"`       // further causes: requirements, each with the reason
	Unjudged   map[string]string `yaml:"unjudged"`   // of an equivalent mutant: requirements that are not judged, with the reason
	Edition    string            `yaml:"edition"`
	Place      string            `yaml:"place"`     // what an equivalent mutant changes, in a few words
	Pace       time.Duration     `yaml:"pace"`      // how long a revision stays in each status
	Queued     time.Duration     `yaml:"queued"`    // how long the third run of a thread is pending before it starts
	Hangs      bool              `yaml:"hangs"`     // requests wait for their timeout: the self-test begins with it
	Once       bool              `yaml:"once"`      // it deviates once in the life of a server
	Elsewhere  bool              `yaml:"elsewhere"` // scenarios of other requirements show it
	Explored   bool              `yaml:"explored"`  // only exploration finds it
	Config     map[string]any    `yaml:"config"`    // configuration keys for this server
	Changes    []Change          `yaml:"changes"`
	Change     `yaml:",inline"`

	Where string `yaml:"-"` // file and line
}

// Change is what a row changes of some operations.
type Change struct {
	When texts `yaml:"when"` // the operation, several with "or", those of a half, or "all"; then conditions
	Do   texts `yaml:"do"`

	// Instead makes a handler that answers in place of the one that follows; the conditions look at requests only.
	Instead func(next http.Handler) http.Handler `yaml:"-"`

	operations  []string
	anyStatus   bool // a condition looks at the status; else answers that succeed are changed
	before      bool // something looks at the deployment as it was
	early, late []condition
	acts        []act
	flags       flags
}

// texts is one text or a list of them.
type texts []string

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
	operations []string // of the change
	made       []string // places that are new
	keys       int
	late       bool // a condition of the change looks at the answer

	// What the places that were read up to now look at.
	answer, status, before bool
}

func (l *loader) newKey() string {
	l.keys++
	return fmt.Sprintf("%d ", l.keys)
}

// New makes a row of one change.
func New(name string, when, do []string) (*Row, error) {
	row := &Row{Name: name, Changes: []Change{{When: when, Do: do}}}
	return row, row.Read()
}

// Read reads the texts of the row's changes, before the row stands around a server.
func (row *Row) Read() error {
	l := &loader{}
	for i := range row.Changes {
		if err := l.change(&row.Changes[i]); err != nil {
			return fmt.Errorf("%s%s: %w", row.Name, row.Equivalent, err)
		}
	}
	return nil
}

// Load reads the rows of a file. The error names the file and the line.
func Load(name string, text []byte) ([]*Row, error) {
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
	return row, row.Read()
}

// check tells what a row lacks, or has too much.
func (row *Row) check() error {
	switch {
	case (row.Equivalent == "") == (row.Name == ""):
		return errors.New("a row has a name, in fault or equivalent")
	case row.Equivalent != "" && (row.Differs == "" || row.Breaks+row.Fails != ""):
		return fmt.Errorf("%s: an equivalent mutant has differs, and none of breaks and fails", row.Equivalent)
	case row.Name != "" && (row.Breaks == "" || row.Fails == "" || row.Differs+row.Place != ""):
		return fmt.Errorf("%s: a fault has breaks and fails, and none of differs and place", row.Name)
	case len(row.Config) > 0 && row.Place != "":
		return fmt.Errorf("%s: remove place: a row with config cannot be combined with others", row.Equivalent)
	case len(row.When) > 0 && len(row.Changes) > 0 || len(row.When)+len(row.Changes) == 0:
		return fmt.Errorf("%s%s: it has when and do, or changes", row.Name, row.Equivalent)
	}
	return nil
}

func (l *loader) change(c *Change) error {
	*l = loader{keys: l.keys}
	if len(c.When) == 0 {
		return errors.New(`it does not say when: the first is an operation, or "all"`)
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
		if l.late = l.answer; l.late {
			c.late = append(c.late, holds)
		} else {
			c.early = append(c.early, holds)
		}
	}
	c.anyStatus = l.status
	switch {
	case c.Instead != nil && len(c.late) > 0:
		return errors.New("a condition looks at the answer, and there is none yet")
	case c.Instead == nil && len(c.Do) == 0:
		return errors.New("it does nothing")
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
	if c.flags.asOwner { // which is nothing where none is known
		c.early = append(c.early, func(x *exchange) bool { return len(x.seen.owner(x)) > 0 })
	}
	c.before = l.before
	return nil
}

// place reads a place, which some operation of the change must have.
func (l *loader) place(text string) (place, error) {
	p, err := parsePlace(text)
	if err != nil {
		return nil, err
	}
	l.answer = l.answer || p.afterwards()
	l.status, l.before = l.status || p.is("status"), l.before || p.is("before")
	if slices.ContainsFunc(l.made, func(at string) bool { return text == at || strings.HasPrefix(text, at+".") }) {
		return p, nil
	}
	return p, Documents().check(p, l.operations)
}

// Count is how many exchanges a row has changed.
type Count = atomic.Int64

// Around puts the row around a server, with a memory of its own.
func (row *Row) Around(next http.Handler, count *Count) http.Handler {
	seen := newMemory()
	handler := learning(seen, next)
	for i := range row.Changes {
		handler = row.Changes[i].around(seen, handler, count)
	}
	return handler
}

// learning enters every exchange that succeeds in the memory.
func learning(seen *memory, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op := OperationOf(r)
		if op.Path == "" {
			next.ServeHTTP(w, r)
			return
		}
		x := newExchange(r, op, next, seen)
		x.answer = Capture(next, x.original())
		if x.answer.Status < 300 {
			seen.learn(x)
		}
		x.answer.Send(w)
	})
}

func (c *Change) around(seen *memory, next http.Handler, count *Count) http.Handler {
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
		x := newExchange(r, op, next, seen)
		x.count = count
		switch {
		case !x.all(c.early):
			next.ServeHTTP(w, x.original())
		case instead != nil:
			instead.ServeHTTP(w, x.original())
		default:
			if c.serve(x); x.answer != nil {
				x.send(w)
			}
		}
	})
}

// serve gets an answer and changes it. There is none where the client gets none.
func (c *Change) serve(x *exchange) {
	if c.before {
		x.load("before")
	}
	var first *Answer
	if len(c.late) > 0 {
		first = Capture(x.next, x.original())
		x.answered(first)
		if !x.all(c.late) {
			return
		}
	}
	if !c.wait(x) {
		return
	}
	x.answer = nil
	c.apply(x, false)
	x.answered(c.exchange(x, first))
	if c.anyStatus || x.answer.Status < 300 {
		for _, keep := range x.later {
			keep()
		}
	}
	c.apply(x, true)
}

// exchange serves the request as the flags say.
func (c *Change) exchange(x *exchange, first *Answer) *Answer {
	again := first == nil || c.flags.asOwner || c.flags.beside ||
		slices.ContainsFunc(c.acts, func(a act) bool { return a.request })
	switch {
	case c.flags.unserved:
		x.changed = true
		return &Answer{Status: http.StatusOK, Header: http.Header{}}
	case !again:
		return first
	}
	changed := Capture(x.next, x.request())
	asBefore := first != nil && changed.Status == first.Status && bytes.Equal(changed.Body, first.Body)
	x.changed = x.changed || c.flags.beside && first == nil || c.flags.asOwner && !asBefore
	if !c.flags.beside {
		return changed
	}
	if first == nil {
		first = Capture(x.next, x.original())
	}
	return first
}

// wait is for answers that come late or never. It tells whether one comes.
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
		x.answer = nil
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

func (c *Change) apply(x *exchange, afterwards bool) {
	if afterwards && !c.anyStatus && !c.flags.unserved && x.answer.Status >= 300 {
		return
	}
	for _, a := range c.acts {
		if a.afterwards == afterwards {
			a.apply(x)
		}
	}
}
