package spec

import (
	"slices"
	"strconv"
	"strings"
)

// Case is a value of a parameter, and whether the contract allows it.
type Case struct {
	Value string // not escaped
	Valid bool
	Why   string
}

// BoundaryCases derives the values around the bounds of a parameter from its schema, always the same and in the
// same order. Left out are values about which the interface is silent, so that a server may take or refuse them:
// other ways to write a number or a boolean (1.0, 1e2, +5, yes), surrounding space, an empty text for a parameter
// that may be null, an integer beyond 64 bits where there is no maximum, and an unknown item in a list. It is nil
// for an unknown parameter.
func BoundaryCases(op Operation, name string) []Case {
	i := slices.IndexFunc(op.Parameters, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	p := op.Parameters[i]
	switch {
	case p.Type == "integer":
		return integerCases(p)
	case p.Type == "boolean":
		return booleanCases()
	case p.Format == "uuid":
		return uuidCases()
	case p.List:
		return listCases(p)
	}
	return nil
}

func integerCases(p Parameter) []Case {
	var cases []Case
	add := func(value float64, valid bool, why string) {
		text := strconv.FormatFloat(value, 'f', -1, 64)
		if !slices.ContainsFunc(cases, func(c Case) bool { return c.Value == text }) {
			cases = append(cases, Case{Value: text, Valid: valid, Why: why})
		}
	}
	if p.Minimum != nil {
		add(*p.Minimum-1, false, "below the minimum")
		add(*p.Minimum, true, "the minimum")
		add(*p.Minimum+1, true, "above the minimum")
		add(-1, *p.Minimum <= -1, "negative")
	}
	if n, ok := p.Default.(float64); ok {
		add(n, true, "the default")
	}
	if p.Maximum != nil {
		add(*p.Maximum-1, true, "below the maximum")
		add(*p.Maximum, true, "the maximum")
		add(*p.Maximum+1, false, "above the maximum")
		cases = append(cases, Case{Value: strings.Repeat("9", 30), Why: "huge"})
	}
	return append(cases,
		Case{Value: "1.5", Why: "fractional"},
		Case{Value: "", Why: "empty"},
		Case{Value: "abc", Why: "not a number"},
		Case{Value: "5abc", Why: "a number with letters behind it"},
		Case{Value: "5,6", Why: "two numbers"},
		Case{Value: "NaN", Why: "not a number"},
		Case{Value: "Infinity", Why: "infinite"},
		Case{Value: "null", Why: "null"},
		Case{Value: "true", Why: "a boolean"},
	)
}

// Spellings are other ways to write a number or a boolean, by the value that each stands for: frameworks of the field rightly take or
// refuse them. They are not escaped.
func Spellings(boolean bool) map[string][]string {
	if boolean {
		return map[string][]string{"true": {"True", "1", "yes"}, "false": {"False", "0", "off"}}
	}
	return map[string][]string{
		"2":  {"+2", "02", "2.0", "2e0", "0x2", " 2", "2 ", "\u0662" /* Arabic */, "\uff12" /* wide */},
		"10": {"1e1", "1_0"},
	}
}

func booleanCases() []Case {
	return []Case{
		{Value: "true", Valid: true, Why: "a boolean"},
		{Value: "false", Valid: true, Why: "a boolean"},
		{Value: "maybe", Why: "not a boolean"},
		{Value: "2", Why: "a number, not a boolean"},
	}
}

func uuidCases() []Case {
	const good = "3f2a8c1e-5b7d-4e9f-8a6c-0d1e2f3a4b5c"
	return []Case{
		{Value: good, Valid: true, Why: "a uuid"},
		{Value: strings.ToUpper(good), Valid: true, Why: "a uuid in capitals"},
		{Value: good[:len(good)-1], Why: "one digit short"},
		{Value: good + "0", Why: "one digit more"},
		{Value: "g" + good[1:], Why: "a letter, not a digit"},
		{Value: "not-a-uuid", Why: "not a uuid"},
	}
}

func listCases(p Parameter) []Case {
	var cases []Case
	for _, value := range p.Enum {
		cases = append(cases, Case{Value: value, Valid: true, Why: "one of the values"})
	}
	if len(p.Enum) > 1 {
		cases = append(cases,
			Case{Value: strings.Join(p.Enum[:2], ","), Valid: true, Why: "two of the values"},
			Case{Value: strings.Join(p.Enum, ","), Valid: true, Why: "all values"},
		)
	}
	return cases
}
