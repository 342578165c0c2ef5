package controlplane

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/cases"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
)

// invalidBeside holds the sentences about an invalid parameter beside valid ones (sections 4, 7 and 8).
type invalidBeside struct {
	*lists
	tried []try
}

// try is one invalid value beside valid ones, and how it was answered.
type try struct {
	parameter string
	invalid   spec.Case
	beside    []string // the valid parameters
	answer    *client.Answer
}

func (w *invalidBeside) define(r *common.Definitions) {
	r.When(`the client lists its revisions with each invalid (limit|offset|remote_reconciled), beside valid values of the other parameters`, w.clientListsInvalid)
	r.When(`the client lists its revisions with each invalid (limit|offset)`, w.clientListsInvalidAlone)
	r.Then(`each of these requests is refused with 422 and an error that names "(\w+)"`, w.eachIsRefusedNaming)
}

// valid are two values of each parameter that the contract allows.
var valid = []struct{ parameter, first, second string }{
	{"limit", "limit=1", "limit=100"},
	{"offset", "offset=0", "offset=1"},
	{"status", "status=DEPLOYED", "status=DEPLOYED%2CBUILD_FAILED"},
	{"remote_reconciled", "remote_reconciled=true", "remote_reconciled=false"},
}

// clientListsInvalid sends each invalid value so that each of the other parameters is there and absent, and each two of them are together.
// The valid values change in turn, and so does the place of the invalid one.
func (w *invalidBeside) clientListsInvalid(ctx context.Context, parameter string) error {
	for i, invalid := range w.invalid(parameter) {
		for _, row := range cases.Pairwise(2, 2, 2)[1:] { // the first has none of them: this is refused by other requirements
			each := try{parameter: parameter, invalid: invalid, beside: validBeside(parameter, row, i)}
			parts := slices.Clone(each.beside)
			parts = slices.Insert(parts, i%(len(parts)+1), parameter+"="+url.QueryEscape(invalid.Value))
			if err := w.List(ctx, strings.Join(parts, "&"), true); err != nil {
				return err
			}
			each.answer = w.Scene.Answer
			w.tried = append(w.tried, each)
		}
	}
	return nil
}

func (w *invalidBeside) clientListsInvalidAlone(ctx context.Context, parameter string) error {
	for _, invalid := range w.invalid(parameter) {
		if err := w.List(ctx, parameter+"="+url.QueryEscape(invalid.Value), true); err != nil {
			return err
		}
		w.tried = append(w.tried, try{parameter: parameter, invalid: invalid, answer: w.Scene.Answer})
	}
	return nil
}

// validBeside are those of the other parameters for which the row has a 1.
func validBeside(parameter string, row []int, turn int) (parts []string) {
	others := slices.DeleteFunc(slices.Clone(valid), func(v struct{ parameter, first, second string }) bool { return v.parameter == parameter })
	for j, v := range others {
		switch {
		case row[j] == 0:
		case (turn+j)%2 == 0:
			parts = append(parts, v.first)
		default:
			parts = append(parts, v.second)
		}
	}
	return parts
}

func (w *invalidBeside) eachIsRefusedNaming(parameter string) error {
	var wrong *outcome.Outcome
	for _, t := range w.tried {
		switch {
		case common.RefusedNaming(t.answer, parameter) == nil:
		case wrong != nil:
			wrong.Violations[0].Count++
		default:
			wanted := fmt.Sprintf("status 422 with an error that names %s: %[1]s=%s (%s)", parameter, t.invalid.Value, t.invalid.Why)
			if len(t.beside) > 0 {
				wanted += " beside " + strings.Join(t.beside, " and ")
			}
			wrong = outcome.Violated(t.answer, wanted, "%s", outcome.Seen(t.answer))
		}
	}
	if wrong == nil {
		return nil
	}
	return wrong
}
