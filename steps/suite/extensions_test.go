package suite_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/spec"
)

// TestEveryExtensionOfAThreadIsTried compares the examples of AS-AUTHZ-6 with the vendor extensions of the contract. Each
// extension whose path contains a thread, and at most a run of that thread, must occur twice: for the threads of both
// users.
func TestEveryExtensionOfAThreadIsTried(t *testing.T) {
	oracle, err := spec.New()
	require.NoError(t, err)
	var want []string
	placeholder := regexp.MustCompile(`\{\w+\}`)
	for _, op := range oracle.Operations(spec.AgentServer) {
		named := placeholder.FindAllString(op.Path, -1)
		isOther := func(name string) bool { return name != "{thread_id}" && name != "{run_id}" }
		if op.Field && slices.Contains(named, "{thread_id}") && !slices.ContainsFunc(named, isOther) {
			want = append(want, op.ID, op.ID)
		}
	}
	catalogue, err := features.Load()
	require.NoError(t, err)
	var have []string
	for _, s := range catalogue.Find("AS-AUTHZ-6").Scenarios {
		for _, step := range s.Steps {
			_, id, isTried := strings.Cut(step.Text, "try the vendor extension ")
			if isTried {
				have = append(have, id)
			}
		}
	}
	assert.ElementsMatch(t, want, have)
}
