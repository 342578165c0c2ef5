package validate

import (
	"slices"
	"strings"
)

// Problem is one ValidationError of the interface, section 2.
type Problem struct {
	Loc   []any  `json:"loc"` // strings and integers: where in the request
	Msg   string `json:"msg"`
	Type  string `json:"type"`
	Input any    `json:"input,omitempty"` // the faulty value; left out where it may be a secret or is not a plain one
}

// Problems collects what is wrong with one request. It is an error when it holds any.
type Problems struct{ list []Problem }

// List returns the problems in the order in which they were found.
func (p *Problems) List() []Problem { return p.list }

// Err returns p if it holds a problem, else nil.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	return p
}

// Error names every place that is wrong.
func (p *Problems) Error() string {
	var texts []string
	for _, q := range p.list {
		texts = append(texts, q.Msg)
	}
	return "the request is not valid: " + strings.Join(texts, "; ")
}

// Add notes a problem. Only plain values are kept as input, and long ones are cut: an answer must not be a mirror.
func (p *Problems) Add(loc []any, kind, msg string, input any) {
	p.list = append(p.list, Problem{Loc: slices.Clone(loc), Msg: msg, Type: kind, Input: presentable(input)})
}

const longestInput = 100

func presentable(input any) any {
	switch v := input.(type) {
	case string:
		if r := []rune(v); len(r) > longestInput {
			return string(r[:longestInput]) + "…"
		}
		return v
	case bool:
		return v
	case interface{ Int64() (int64, error) }: // a number of a JSON body
		if n, err := v.Int64(); err == nil {
			return n
		}
	}
	return nil
}

// oneOf writes the choices as a person would: 'a', 'b' or 'c'.
func oneOf(choices []string) string {
	quoted := make([]string, len(choices))
	for i, c := range choices {
		quoted[i] = "'" + c + "'"
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}
