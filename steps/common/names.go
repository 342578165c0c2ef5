package common

import (
	"math"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
)

// IsInteger tells whether a value is an integer of JSON: 2, 2.0 and 2e0 are the same number.
func IsInteger(v gjson.Result) bool {
	return v.Type == gjson.Number && v.Num == math.Trunc(v.Num)
}

// Names tells whether a refusal names a parameter: in a loc where there is one, else anywhere in the body. That a
// loc is missing is another requirement's concern.
func Names(a *client.Answer, parameter string) bool {
	located := false
	for _, item := range a.Get("detail").Array() {
		loc := item.Get("loc")
		if !loc.IsArray() {
			continue
		}
		for _, part := range loc.Array() {
			located = true
			if part.String() == parameter {
				return true
			}
		}
	}
	return !located && strings.Contains(string(a.Body), parameter)
}
