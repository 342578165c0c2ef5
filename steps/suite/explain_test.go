package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/outcome"
)

func TestExplanation(t *testing.T) {
	cause := shown{exchanges: []int{7}, objects: []string{"http://a t1"}, operation: "get-run", kind: outcome.NotRemoved}
	crash := shown{exchanges: []int{8}, objects: []string{"http://a t1"}, operation: "get-run", kind: outcome.ServerError}
	of := func(id string) []shown { return map[string][]shown{"A-1": {cause}, "A-2": {crash}}[id] }
	for name, c := range map[string]struct {
		violations []shown
		want       []string
	}{
		"the same exchange":              {[]shown{{exchanges: []int{7}, kind: outcome.Leak}}, []string{"A-1"}},
		"the same object":                {[]shown{{exchanges: []int{9}, objects: []string{"http://a t1"}, operation: "get-state"}}, []string{"A-1"}},
		"the same operation and kind":    {[]shown{{operation: "get-run", kind: outcome.NotRemoved}}, []string{"A-1"}},
		"the same operation only":        {[]shown{{operation: "get-run", kind: outcome.Accepted}}, nil},
		"the same id at another address": {[]shown{{objects: []string{"http://b t1"}, operation: "get-state"}}, nil},
		"a crash of the operation":       {[]shown{{operation: "get-run", kind: outcome.ServerError}}, []string{"A-2"}},
		"a crash of the same object":     {[]shown{{objects: []string{"http://a t1"}, operation: "get-state", kind: outcome.ServerError}}, nil},
		"one of two violations":          {[]shown{cause, {operation: "join-run"}}, nil},
		"two violations with two causes": {[]shown{cause, crash}, []string{"A-1", "A-2"}},
	} {
		assert.Equal(t, c.want, explanation(c.violations, []string{"A-1", "A-2", "A-3"}, of), name)
	}
}
