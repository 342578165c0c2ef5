package explore

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/target"
)

// TestSequencesCoverEachPair checks that 1000 operations on a half of the interface, half of an exploration with 2000,
// contain each kind of operation after each other kind on one object.
func TestSequencesCoverEachPair(t *testing.T) {
	c := config.Default()
	c.OtherTenant.APIKey = "other"
	known := &target.Target{Config: &c}
	agents := &agentServer{target: known, callers: make([]target.Caller, 4)}
	plane := &controlPlane{target: known, fields: repositoryFields, values: map[string]any{}}
	for _, field := range plane.fields {
		for _, value := range field {
			plane.values[value] = value
		}
	}
	for name, half := range map[string]struct {
		begin func() session
		kinds []kind
	}{
		"agent server":  {agents.begin, agents.threadKinds()},
		"control plane": {plane.begin, plane.deploymentKinds()},
	} {
		require.NotEmpty(t, half.kinds, name)
		for seed := range int64(5) {
			sent := map[[2]kind]bool{}
			e := &Explorer{begin: half.begin}
			for _, sequence := range e.sequences(seed, 1000) {
				maps.Copy(sent, pairsIn(sequence))
			}
			for _, before := range half.kinds {
				for _, after := range half.kinds {
					assert.True(t, sent[[2]kind{before, after}], "%s, seed %d: %v, then %v", name, seed, before, after)
				}
			}
		}
	}
}

// pairsIn returns the kinds that follow each other at an object.
func pairsIn(sequence []Operation) map[[2]kind]bool {
	pairs := map[[2]kind]bool{}
	owners, last := map[int]int{}, map[int][]kind{}
	for _, o := range sequence {
		if o.Verb == create || o.Verb == deploy {
			owners[o.Object] = o.Caller
		}
		if o.Verb == await {
			continue
		}
		kinds := kindsOf(o, owners[o.Object])
		for _, before := range last[o.Object] {
			for _, after := range kinds {
				pairs[[2]kind{before, after}] = true
			}
		}
		last[o.Object] = kinds
	}
	return pairs
}

// kindsOf returns the kinds of an operation. An update may set several fields.
func kindsOf(o Operation, ownedBy int) (all []kind) {
	switch {
	case o.Caller == first && ownedBy == second: // the other user
		return []kind{{verb: o.Verb, caller: second}}
	case o.Caller != ownedBy:
		return []kind{{verb: o.Verb, caller: o.Caller}}
	case o.Verb != update:
		return []kind{{verb: o.Verb, caller: owner}}
	}
	for with := range strings.SplitSeq(o.With, " and ") {
		all = append(all, kind{update, owner, with})
	}
	return all
}
