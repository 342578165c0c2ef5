package forecast

import (
	"fmt"
	"slices"
	"strings"
)

// parseTags reads a tag expression: tags joined by "and", "or" and "not", with brackets. An empty one selects
// everything. godog's filter has a smaller language, in which such an expression silently selects nothing.
func parseTags(expression string) (func(tags []string) bool, error) {
	p := &tagParser{words: strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(expression))}
	if len(p.words) == 0 {
		return func([]string) bool { return true }, nil
	}
	match, err := p.or()
	if err == nil && len(p.words) > 0 {
		err = fmt.Errorf("unexpected %q", p.words[0])
	}
	if err != nil {
		return nil, fmt.Errorf("%w; give tags joined by and, or, not, such as \"@must and not @slow\"", err)
	}
	return match, nil
}

type tagParser struct {
	words []string
	depth int
}

func (p *tagParser) accept(word string) bool {
	if len(p.words) == 0 || !strings.EqualFold(p.words[0], word) {
		return false
	}
	p.words = p.words[1:]
	return true
}

func (p *tagParser) or() (func([]string) bool, error) {
	left, err := p.and()
	for err == nil && p.accept("or") {
		var right func([]string) bool
		if right, err = p.and(); err == nil {
			former := left
			left = func(tags []string) bool { return former(tags) || right(tags) }
		}
	}
	return left, err
}

func (p *tagParser) and() (func([]string) bool, error) {
	left, err := p.not()
	for err == nil && p.accept("and") {
		var right func([]string) bool
		if right, err = p.not(); err == nil {
			former := left
			left = func(tags []string) bool { return former(tags) && right(tags) }
		}
	}
	return left, err
}

func (p *tagParser) not() (func([]string) bool, error) {
	if p.depth++; p.depth > 1000 {
		return nil, fmt.Errorf("nested too deeply")
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("not"):
		inner, err := p.not()
		return func(tags []string) bool { return !inner(tags) }, err
	case p.accept("("):
		inner, err := p.or()
		if err == nil && !p.accept(")") {
			err = fmt.Errorf("missing closing bracket")
		}
		return inner, err
	case len(p.words) == 0:
		return nil, fmt.Errorf("unexpected end")
	}
	tag := p.words[0]
	if !strings.HasPrefix(tag, "@") || len(tag) == 1 {
		return nil, fmt.Errorf("%q is not a tag; tags begin with @", tag)
	}
	p.words = p.words[1:]
	return func(tags []string) bool {
		return slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(t, tag) })
	}, nil
}
