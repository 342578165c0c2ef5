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

// act is one thing that a row does.
type act struct {
	apply      func(x *exchange)
	afterwards bool // changes the answer
	request    bool // changes the request
}

// flags say how a request is served.
type flags struct {
	unserved bool // it never arrives
	beside   bool // the changed one is served too, and its answer is not sent
	asOwner  bool // with the credentials of the owner
	hang     bool // no answer
	close    bool // no answer, and no connection any more
	delay    time.Duration
	until    place // the time before which no answer is sent
}

// act reads one change.
func (l *loader) act(text string, f *flags) (a act, err error) {
	word, rest, _ := strings.Cut(text, " ")
	flag := map[string]*bool{"unserved": &f.unserved, "beside": &f.beside, "hang": &f.hang, "close": &f.close}[word]
	_, known := verbs[word]
	switch {
	case flag != nil && rest == "":
		*flag = true
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
			err = errors.New("an item of a list cannot be dropped; see except")
		}
		return changing(p, func(_ *exchange, s slot) { delete(s.its, s.name) }), err
	case recalls[word] != nil:
		return l.recalling(word, rest)
	case known:
		return l.verb(word, rest)
	case word == "new":
		at, rest, _ := strings.Cut(rest, " ")
		l.made = append(l.made, at)
		return l.assigning(at, rest)
	}
	return l.assigning(word, rest)
}

func asOwner(x *exchange) {
	for _, name := range carriers {
		x.r.Header.Del(name)
	}
	for name, values := range x.seen.owner(x) {
		x.r.Header[name] = values
	}
	delete(x.parts, "header")
}

// refusing is "STATUS TEXT": an error whose detail is the text, or what it is as YAML.
func (l *loader) refusing(text string) (a act, err error) {
	number, detail, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(number)
	if err != nil || status < 200 || status > 599 {
		return a, fmt.Errorf("%q is no status", number)
	}
	v, err := l.value(detail)
	return act{apply: func(x *exchange) {
		x.parts["status"] = json.Number(strconv.Itoa(status))
		x.parts["answer"] = map[string]any{"detail": v.in(x, slot{})}
		x.contentType("application/json")
	}, afterwards: true}, err
}

// recalling is a change by what the place was before, or is elsewhere.
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
		if p.is("request", "path") { // one value is that of another object
			s.owner = textOf(s.value)
		}
		if p.is("path") { // of another request of the operation, which succeeded
			group += x.requestOf(s.name)
		}
		other, found := x.seen.recall(word, group, s.owner, s.value)
		if found && (!p.is("path") || of(x.seen, x.seen.ids, textOf(other))) {
			s.set(other)
		}
	}), nil
}

func (l *loader) verb(word, rest string) (a act, err error) {
	at, argument, _ := strings.Cut(rest, " ")
	p, err := l.written(at)
	if err != nil {
		return a, err
	}
	if (argument == "") != slices.Contains(alone, word) {
		return a, fmt.Errorf("%s: an argument is missing, or too much", word)
	}
	v, err := l.value(argument)
	if word == "replace" {
		v, err = l.text(argument), nil
	}
	return changing(p, func(x *exchange, s slot) {
		if s.has && s.value != nil {
			s.set(verbs[word](s.value, v.in(x, s)))
		}
	}), err
}

// changing is a change of whatever stands at a place.
func changing(p place, change func(x *exchange, s slot)) act {
	if len(p) == 0 {
		return act{}
	}
	return act{
		apply:      func(x *exchange) { x.each(p, func(s slot) { change(x, s) }) },
		afterwards: p.afterwards(), request: !p.afterwards(),
	}
}

// assigning is "PLACE = VALUE", or "PLACE ?= VALUE" where there is no value yet.
func (l *loader) assigning(at, rest string) (a act, err error) {
	operator, text, _ := strings.Cut(rest, " ")
	if operator != "=" && operator != "?=" {
		return a, fmt.Errorf("unknown change %q", at)
	}
	v, err := l.value(text)
	if err != nil {
		return a, err
	}
	if p, err := parsePlace(at); err == nil && p.is(memoryRoots...) {
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
		if len(p) == 1 && p.is("answer") {
			x.contentType("application/json")
		}
	}), nil
}

// keeping is an assignment to the memory of the row. The value is taken when the rest of the change is made, and kept when the
// object is known: with an answer.
func (l *loader) keeping(p place, v value, replace bool) (a act, err error) {
	if len(p) != 2 {
		return a, fmt.Errorf("%s: a name is missing, or too much", p)
	}
	return act{apply: func(x *exchange) {
		value := v.in(x, slot{})
		keep := func() {
			switch object := x.object(); {
			case p.is("common"):
				x.seen.keep("", p[1], value, replace)
			case object != x.prefix():
				x.seen.keep(object, p[1], value, replace)
			}
			delete(x.parts, p[0])
		}
		if x.answer == nil {
			x.later = append(x.later, keep)
			return
		}
		keep()
	}, afterwards: l.late || slices.ContainsFunc(v.places, place.afterwards)}, nil
}

// written reads a place that a row may write to.
func (l *loader) written(text string) (place, error) {
	p, err := l.place(text)
	switch {
	case err != nil:
		return nil, err
	case !p.is(writtenRoots...), len(p) > 2 && p.is(textRoots...), len(p) == 1 && p.is("query", "header", "answer-header", "each"):
		return nil, fmt.Errorf("%s cannot be changed", text)
	case p.is("header", "answer-header") && p[1] != http.CanonicalHeaderKey(p[1]):
		return nil, fmt.Errorf("the name of the header is written %s", http.CanonicalHeaderKey(p[1]))
	}
	return p, nil
}

func (x *exchange) contentType(is string) {
	x.parts["answer-header"].(map[string]any)["Content-Type"] = is
}

// each visits what stands at a place.
func (x *exchange) each(p place, visit func(s slot)) {
	x.load(p[0])
	owner := x.r.URL.RequestURI()
	if slices.Contains(p, "*") { // an item has an id of its own, and is the same in each page
		owner = x.r.URL.Path
	}
	for _, s := range slots(x.parts, p, owner) {
		visit(s)
	}
}
