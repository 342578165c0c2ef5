package deviate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// act is one change of a request or a response.
type act struct {
	apply func(x *exchange)
	// Acts of the request run before it is served, acts of the response after it.
	onResponse bool
	// onRequest is false for acts that only store a value.
	onRequest bool
}

// flags determine how a request is served.
type flags struct {
	unserved bool // the server never receives the request
	beside   bool // the changed request is served in addition, and its response is not sent
	asOwner  bool // the request has the credentials of the owner
	hang     bool // no response is sent
	close    bool // the connection is closed without a response
	delay    time.Duration
	until    place // the time at which the response is sent
}

// act reads one change. Words that determine how a request is served set a flag.
func (l *loader) act(text string, f *flags) (a act, err error) {
	word, rest, _ := strings.Cut(text, " ")
	_, isVerb := verbs[word]
	switch {
	case text == "unserved":
		f.unserved = true
		return a, nil
	case text == "beside":
		f.beside = true
		return a, nil
	case text == "hang":
		f.hang = true
		return a, nil
	case text == "close":
		f.close = true
		return a, nil
	case word == "delay":
		f.delay, err = time.ParseDuration(rest)
		return a, err
	case word == "until":
		f.until, err = l.place(rest)
		return a, err
	case text == "as owner":
		f.asOwner = true
		return act{apply: asOwner}, nil
	case word == "refuse":
		return l.refusing(rest)
	case word == "drop":
		p, err := l.written(rest)
		if err == nil && isItem.MatchString(p[len(p)-1]) {
			err = errors.New("an item of a list cannot be dropped: use except")
		}
		return changing(p, func(_ *exchange, s slot) { delete(s.its, s.name) }), err
	case recalls[word] != nil:
		return l.recalling(word, rest)
	case isVerb:
		return l.verb(word, rest)
	case word == "new":
		at, rest, _ := strings.Cut(rest, " ")
		l.declared = append(l.declared, at)
		return l.assigning(at, rest)
	}
	return l.assigning(word, rest)
}

// asOwner replaces the credentials of the request with those of the owner.
func asOwner(x *exchange) {
	for _, name := range carriers {
		x.r.Header.Del(name)
	}
	for name, values := range x.memory.owner(x) {
		x.r.Header[name] = values
	}
	delete(x.parts, "header")
}

// refusing reads "STATUS DETAIL", which replaces the response with an error. The detail is a value.
func (l *loader) refusing(text string) (a act, err error) {
	number, detail, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(number)
	if err != nil || status < 200 || status > 599 {
		return a, fmt.Errorf("invalid status %q: write a number from 200 to 599", number)
	}
	v, err := l.value(detail)
	return act{apply: func(x *exchange) {
		x.parts["status"] = json.Number(strconv.Itoa(status))
		x.parts["answer"] = map[string]any{"detail": v.in(x, slot{})}
		x.setContentType("application/json")
	}, onResponse: true}, err
}

// recalling reads a change that replaces the value of a place by an earlier value, or by the value of another object.
func (l *loader) recalling(word, at string) (a act, err error) {
	p, err := l.written(at)
	if err != nil {
		return a, err
	}
	key := l.newKey()
	return changing(p, func(x *exchange, s slot) {
		if !s.has {
			return
		}
		group := key
		if p.hasRoot("request", "path") { // each value counts as an object of its own
			s.owner = textOf(s.value)
		}
		if p.hasRoot("path") { // only values of successful requests of the same operation
			group += x.requestOf(s.name)
		}
		other, found := x.memory.recall(word, group, s.owner, s.value)
		if found && (!p.hasRoot("path") || lookup(x.memory, x.memory.ids, textOf(other))) {
			s.set(other)
		}
	}), nil
}

// verb reads "PLACE ARGUMENT" after a verb.
func (l *loader) verb(word, rest string) (a act, err error) {
	at, argument, _ := strings.Cut(rest, " ")
	p, err := l.written(at)
	if err != nil {
		return a, err
	}
	takesNone := slices.Contains(withoutArgument, word)
	if takesNone && argument != "" {
		return a, fmt.Errorf("%s: unexpected argument %q", word, argument)
	}
	if !takesNone && argument == "" {
		return a, fmt.Errorf("%s: the argument is missing", word)
	}
	v, err := l.value(argument)
	if word == "replace" { // its argument is always a text
		v, err = l.text(argument), nil
	}
	return changing(p, func(x *exchange, s slot) {
		if s.has && s.value != nil {
			s.set(verbs[word](s.value, v.in(x, s)))
		}
	}), err
}

// changing returns a change of each slot at a place.
func changing(p place, change func(x *exchange, s slot)) act {
	if len(p) == 0 {
		return act{}
	}
	return act{
		apply:      func(x *exchange) { x.each(p, func(s slot) { change(x, s) }) },
		onResponse: p.inResponse(),
		onRequest:  !p.inResponse(),
	}
}

// assigning reads "PLACE = VALUE" or "PLACE ?= VALUE". The second sets the value only if there is none.
func (l *loader) assigning(at, rest string) (a act, err error) {
	operator, text, _ := strings.Cut(rest, " ")
	if operator != "=" && operator != "?=" {
		return a, fmt.Errorf("unknown change %q", at)
	}
	v, err := l.value(text)
	if err != nil {
		return a, err
	}
	if p, err := parsePlace(at); err == nil && p.hasRoot(memoryRoots...) {
		return l.keeping(p, v, operator == "=")
	}
	p, err := l.written(at)
	if err != nil {
		return a, err
	}
	return changing(p, func(x *exchange, s slot) {
		if operator == "=" || !s.has || s.value == nil {
			s.set(v.in(x, s))
		}
		if len(p) == 1 && p.hasRoot("answer") {
			x.setContentType("application/json")
		}
	}), nil
}

// keeping reads an assignment to a place in the memory of the row, which has a root and one name. The value is computed
// together with the other changes. It is stored when there is a response, because only then is the object known.
func (l *loader) keeping(p place, v value, replace bool) (a act, err error) {
	if len(p) != 2 {
		return a, fmt.Errorf("invalid place %s: write %s and one name, such as %s.source", p, p[0], p[0])
	}
	return act{apply: func(x *exchange) {
		value := v.in(x, slot{})
		keep := func() {
			object := x.object()
			switch {
			case p.hasRoot("common"):
				x.memory.keep("", p[1], value, replace)
			case object != x.basePath():
				x.memory.keep(object, p[1], value, replace)
			}
			delete(x.parts, p[0])
		}
		if x.response == nil {
			x.later = append(x.later, keep)
			return
		}
		keep()
	}, onResponse: l.late || slices.ContainsFunc(v.places, place.inResponse)}, nil
}

// written reads a place that a row may change.
func (l *loader) written(text string) (place, error) {
	p, err := l.place(text)
	switch {
	case err != nil:
		return nil, err
	case !p.hasRoot(writtenRoots...), len(p) > 2 && p.hasRoot(textRoots...), len(p) == 1 && p.hasRoot("query", "header", "answer-header", "each"):
		return nil, fmt.Errorf("%s cannot be changed", text)
	case p.hasRoot("header", "answer-header") && p[1] != http.CanonicalHeaderKey(p[1]):
		return nil, fmt.Errorf("header %s: write the canonical name %s", p[1], http.CanonicalHeaderKey(p[1]))
	}
	return p, nil
}

func (x *exchange) setContentType(mediaType string) {
	x.parts["answer-header"].(map[string]any)["Content-Type"] = mediaType
}

func (x *exchange) each(p place, visit func(s slot)) {
	x.load(p[0])
	owner := x.r.URL.RequestURI()
	if slices.Contains(p, "*") { // an item has its own ID, and is the same in each page
		owner = x.r.URL.Path
	}
	for _, s := range slots(x.parts, p, owner) {
		visit(s)
	}
}

// changeRequest runs the acts that precede the response.
func (c *Change) changeRequest(x *exchange) {
	for _, a := range c.acts {
		if !a.onResponse {
			a.apply(x)
		}
	}
}

// changeResponse runs the acts of the response. Refusals are only changed if a condition reads the status.
func (c *Change) changeResponse(x *exchange) {
	if !c.anyStatus && !c.flags.unserved && x.response.Status >= 300 {
		return
	}
	for _, a := range c.acts {
		if a.onResponse {
			a.apply(x)
		}
	}
}
