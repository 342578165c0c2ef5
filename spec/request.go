package spec

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/spec/spelling"
)

// JudgeRequest returns the violations of a request of the suite that was meant to be valid. Credentials are not judged,
// since the caller chooses them. Nil means that the request matches the contract, or that its operation is not in the
// documents.
func (o *Oracle) JudgeRequest(x Exchange) []Violation {
	op := o.find(x.Side, x.Method, x.Path)
	if op == nil {
		return nil
	}
	violations := op.judgePath(x.Path)
	violations = append(violations, op.judgeQuery(x.Query)...)
	violations = append(violations, op.judgeRequestBody(x)...)
	return finish(violations, op.ID, 0)
}

func (op *operation) judgePath(path string) []Violation {
	var violations []Violation
	for name, p := range op.parameters {
		if p.In == "path" {
			violations = append(violations, p.judge(op.In(path, name))...)
		}
	}
	return violations
}

func (op *operation) judgeQuery(query string) []Violation {
	values, err := url.ParseQuery(query)
	if err != nil {
		return []Violation{{Pointer: "/query", Keyword: "parameter", Expected: "a query that can be read",
			Actual: excerptText(query)}}
	}
	var violations []Violation
	for name, list := range values {
		p := op.parameters[name]
		switch {
		case p == nil || p.In != "query":
			violations = append(violations, Violation{
				Pointer: "/query/" + escapePointer(name), Keyword: "parameter",
				Expected: "a parameter of the operation", Actual: excerptText(name),
			})
		case len(list) > 1:
			violations = append(violations, Violation{
				Pointer: "/query/" + name, Keyword: "parameter",
				Expected: "the parameter once", Actual: fmt.Sprintf("%d times", len(list)),
			})
		default:
			violations = append(violations, p.judge(list[0])...)
		}
	}
	return violations
}

func (p *parameter) judge(text string) []Violation {
	pointer := "/" + p.In + "/" + p.Name
	violations := violationsOf(p.schema, p.parse(text))
	if p.List {
		for _, item := range strings.Split(text, ",") {
			if !slices.Contains(p.Enum, item) {
				violations = append(violations, Violation{Keyword: "enum", Expected: spelling.Either(p.Enum),
					Actual: excerptText(item)})
			}
		}
	}
	for i := range violations {
		violations[i].Pointer = pointer
	}
	return violations
}

var integerText = regexp.MustCompile(`^-?[0-9]+$`)

// parse converts the text of a parameter to the type of the contract. A text that cannot be converted is returned
// unchanged, and fails by its type.
func (p *parameter) parse(text string) any {
	switch p.Type {
	case "integer":
		if integerText.MatchString(text) {
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				return n
			}
		}
	case "boolean":
		switch text {
		case "true":
			return true
		case "false":
			return false
		}
	}
	return text
}

func (op *operation) judgeRequestBody(x Exchange) []Violation {
	contentType := x.RequestHeader.Get("Content-Type")
	var violations []Violation
	switch {
	case op.body == nil && len(x.RequestBody) == 0, op.bodyMissing && len(x.RequestBody) == 0:
		return nil
	case op.body == nil:
		return []Violation{{Pointer: "/body", Keyword: "body", Expected: "no body", Actual: excerptBytes(x.RequestBody)}}
	case len(x.RequestBody) == 0:
		return []Violation{{Pointer: "/body", Keyword: "body", Expected: "a JSON body", Actual: "no body"}}
	case !isJSON(contentType):
		violations = append(violations, Violation{
			Pointer: "/header/Content-Type", Keyword: "content-type", Expected: jsonType, Actual: excerptText(contentType),
		})
	}
	if hasLoneSurrogate(x.RequestBody) {
		violations = append(violations, Violation{Pointer: "/body", Keyword: "encoding",
			Expected: "JSON without lone surrogates", Actual: excerptBytes(x.RequestBody)})
	}
	for _, v := range judgeBody(op.body, x.RequestBody) {
		v.Pointer = "/body" + v.Pointer
		violations = append(violations, v)
	}
	return violations
}

// hasLoneSurrogate reports whether a JSON text has an escaped half of a surrogate pair without the other half.
// Receivers of such a text behave unpredictably (RFC 8259, section 8.2), so it is not judged like a valid request.
func hasLoneSurrogate(text []byte) bool {
	isHigh := false // the escape before was the first half of a pair
	for i := 0; i < len(text); i++ {
		unit := uint64(0)
		isEscape := text[i] == '\\' && i+1 < len(text)
		if isEscape && text[i+1] == 'u' && i+6 <= len(text) {
			unit, _ = strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
			i += 4
		}
		if isEscape {
			i++
		}
		isLow := unit >= 0xdc00 && unit < 0xe000
		if isHigh != isLow {
			return true
		}
		isHigh = unit >= 0xd800 && unit < 0xdc00
	}
	return isHigh
}
