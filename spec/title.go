package spec

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// parameterName matches a parameter in a template of a path.
var parameterName = regexp.MustCompile(`\{[^}]*\}`)

// Title returns a sentence about the server for a violation by a response of the operation: "GET /v2/deployments/{id}
// returns created_at without a time offset".
func (v Violation) Title(op *Operation) string {
	request := op.Request()
	switch {
	case v.Keyword == "status":
		return fmt.Sprintf("%s returns %d, which the interface does not list", request, v.Status)
	case v.Status >= http.StatusMultipleChoices:
		return fmt.Sprintf("%s returns %d with %s", request, v.Status, v.fault())
	}
	return request + " returns " + v.fault()
}

// Request returns the method and the path for a title: "GET /threads/{id}/state". It returns the ID if the operation has
// no path.
func (op Operation) Request() string {
	if op.Path == "" {
		return op.ID
	}
	return op.Method + " " + parameterName.ReplaceAllString(op.Path, "{id}")
}

// bodyFaults has the faults of a whole body by keyword.
var bodyFaults = map[string]string{
	"content-type": "a Content-Type other than " + jsonType,
	"json":         "a body that is not valid JSON",
	"encoding":     "a body that is not UTF-8",
	"trailing":     "text after the JSON value",
	"depth":        "JSON that is nested too deeply",
	"values":       "JSON with too many values",
}

// fault names what is wrong with a body or a value in it.
func (v Violation) fault() string {
	field := v.Pointer[strings.LastIndexByte(v.Pointer, '/')+1:]
	switch {
	case field == "":
		field = "a body"
	case strings.Trim(field, "0123456789*") == "":
		field = "a list item"
	}
	switch {
	case bodyFaults[v.Keyword] != "":
		return bodyFaults[v.Keyword]
	case v.Keyword == "body" && v.Status == http.StatusNoContent:
		return "a body"
	case v.Keyword == "body":
		return "an empty body"
	case v.Keyword == "required":
		return "no " + field
	case v.Keyword == "duplicate-key":
		return field + " twice in an object"
	case v.Keyword == "enum":
		return field + " with a value that the interface does not define"
	case v.NoOffset:
		return field + " without a time offset"
	case v.Keyword == "type":
		return field + " that is not of type " + v.Expected
	}
	return field + " that is not " + v.Expected
}
