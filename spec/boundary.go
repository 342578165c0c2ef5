package spec

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Case is a value of a parameter. It records whether the contract allows the value.
type Case struct {
	Value string // not escaped
	Valid bool
	Why   string
}

// BoundaryCases derives values of an integer, a boolean or an enum in the query from its schema, always the same and in
// the same order. For an integer, these are values around the bounds. For the others, these are each allowed value and
// some that are not allowed. It omits values that a server may accept or refuse because the interface does not define
// them: other spellings of a number or a boolean ([Spellings]), an empty text for a parameter that may be null, and an
// integer beyond 64 bits if there is no maximum. It returns nil for other parameters.
func BoundaryCases(op Operation, name string) (cases []Case) {
	i := slices.IndexFunc(op.Parameters, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	switch p := op.Parameters[i]; p.Type {
	case "integer":
		return integerCases(p)
	case "boolean":
		return []Case{{"true", true, "a boolean"}, {"false", true, "a boolean"}, {"maybe", false, "not a boolean"},
			{"2", false, "a number, not a boolean"}}
	case "string":
		return enumCases(p)
	}
	return nil
}

// enumCases returns each value of an enum, and values that are not in it. It returns nil for lists and other texts.
func enumCases(p Parameter) (cases []Case) {
	if p.List || len(p.Enum) == 0 {
		return nil
	}
	for _, value := range p.Enum {
		cases = append(cases, Case{value, true, "a value of the enum"})
	}
	return append(cases, Case{"no-" + p.Enum[0], false, "an unknown value"},
		Case{p.Enum[0] + "," + p.Enum[0], false, "two values"})
}

func integerCases(p Parameter) []Case {
	var cases []Case
	add := func(value float64, valid bool, why string) {
		text := strconv.FormatFloat(value, 'f', -1, 64)
		if !slices.ContainsFunc(cases, func(c Case) bool { return c.Value == text }) {
			cases = append(cases, Case{text, valid, why})
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
		cases = append(cases, Case{strings.Repeat("9", 30), false, "huge"}, Case{"2147483648", false, "beyond 32 bits"},
			Case{"9223372036854775808", false, "beyond 64 bits"}, Case{"1e3", false, "above the maximum, or not an integer"},
			Case{"0" + strconv.FormatFloat(*p.Maximum+1, 'f', -1, 64), false, "above the maximum, with a leading zero"})
	}
	if p.Minimum != nil {
		cases = append(cases, wrappingCases(p)...)
	}
	for _, value := range []string{"1.5", "", "abc", "5abc", "5,6", "NaN", "Infinity", "null", "true"} {
		cases = append(cases, Case{value, false, "not an integer"})
	}
	return cases
}

// wrappingCases returns values that equal the minimum of a parameter if only their last 32 or 64 bits count: 2^32+n and
// 2^64+n if there is a maximum, and n-2^32 and n-2^64.
func wrappingCases(p Parameter) []Case {
	var cases []Case
	n := new(big.Int)
	big.NewFloat(*p.Minimum).Int(n)
	for _, bits := range []uint{32, 64} {
		power := new(big.Int).Lsh(big.NewInt(1), bits)
		why := "in range only in its last " + strconv.FormatUint(uint64(bits), 10) + " bits"
		if p.Maximum != nil {
			cases = append(cases, Case{new(big.Int).Add(n, power).String(), false, why})
		}
		cases = append(cases, Case{new(big.Int).Sub(n, power).String(), false, why})
	}
	return cases
}

// ClassOf returns the class of a value that the parameter does not allow, such as "out of range", or "" for a value that
// it allows. The value is not escaped.
func (p Parameter) ClassOf(value string) string {
	switch p.Type {
	case "integer":
		return p.integerClassOf(value)
	case "boolean":
		if value == "" {
			return "empty"
		}
		if value != "true" && value != "false" {
			return "not a boolean"
		}
		return ""
	}
	if strings.ContainsFunc(value, unicode.IsControl) {
		return "control character"
	}
	items := []string{value}
	if p.List {
		items = strings.Split(value, ",")
	}
	isUnknown := func(item string) bool { return !slices.Contains(p.Enum, item) }
	if len(p.Enum) > 0 && slices.ContainsFunc(items, isUnknown) {
		return "unknown value"
	}
	return ""
}

func (p Parameter) integerClassOf(value string) string {
	if value == "" {
		return "empty"
	}
	n, isInteger := new(big.Int).SetString(value, 10)
	if !isInteger {
		return "not an integer"
	}
	number, _ := new(big.Float).SetInt(n).Float64()
	isBelow := p.Minimum != nil && number < *p.Minimum
	isAbove := p.Maximum != nil && number > *p.Maximum
	if isBelow || isAbove || !n.IsInt64() {
		return "out of range"
	}
	return ""
}

// Spellings returns other spellings of integers or booleans, by the value that each represents, such as 2.0 for 2.
// Servers may accept or refuse them. They are not escaped for a URL.
func Spellings(p Parameter) map[string][]string {
	if p.Type == "boolean" {
		return map[string][]string{"true": {"True", "1", "yes"}, "false": {"False", "0", "off"}}
	}
	all := map[string][]string{
		"2":  {"+2", "02", "2.0", "2e0", "0x2", " 2", "2 ", "\u0662" /* Arabic */, "\uff12" /* wide */},
		"10": {"1e1", "1_0", "010", "100e-1"},
	}
	if p.ClassOf("0") == "" {
		all["0"] = []string{"00", "-0", "+0", "0e1"}
	}
	return all
}
