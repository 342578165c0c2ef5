package evidence

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// judge knows what the contract says about an exchange.
type judge struct {
	oracle     *spec.Oracle
	enumerated map[string][]string // values of the interface, by field
}

func newJudge(oracle *spec.Oracle) judge {
	j := judge{oracle: oracle}
	if oracle != nil {
		j.enumerated = oracle.Enums()
	}
	return j
}

// answer returns what the contract says against an answer; nothing where none came.
func (j *judge) answer(x spec.Exchange, a *client.Answer) []spec.Violation {
	if a == nil {
		return nil
	}
	return j.oracle.JudgeResponse(x)
}

// judgedForm is the exchange as the oracle takes it.
func judgedForm(r client.Request, a *client.Answer) spec.Exchange {
	x := spec.Exchange{Side: r.Side, Method: r.Method, Path: r.Path, Query: r.Query, RequestHeader: r.Header, RequestBody: r.Body}
	if a != nil {
		x.Status, x.Header, x.Body = a.Status, a.Header, a.Body
	}
	return x
}

// enumsIn are the values of enumerations of the interface in a request and in its answer. A request body that is not JSON was
// sent on purpose; the answer of an error has no such values.
func (j *judge) enumsIn(op spec.Operation, x spec.Exchange, a *client.Answer) map[string][]string {
	if op.ID == "" {
		return nil
	}
	var seen map[string][]string
	note := func(field string, v gjson.Result) {
		if v.Type != gjson.String || !slices.Contains(j.enumerated[field], v.Str) || slices.Contains(seen[field], v.Str) {
			return
		}
		if seen == nil {
			seen = map[string][]string{}
		}
		seen[field] = append(seen[field], v.Str)
	}
	if json.Valid(x.RequestBody) {
		for field, path := range sentEnums[op.ID] {
			note(field, gjson.GetBytes(x.RequestBody, path))
		}
	}
	if a == nil || a.Status >= 400 || !a.IsJSON() {
		return seen
	}
	body := gjson.ParseBytes(x.Body)
	for field, paths := range enumPaths {
		if (field == "Message.type") != (x.Side == spec.AgentServer) {
			continue
		}
		for _, path := range paths {
			for _, v := range body.Get(path).Array() {
				note(field, v)
			}
		}
	}
	return seen
}
