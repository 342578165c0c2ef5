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

// TestEveryExtensionOfAThreadIsTried holds the examples of AS-AUTHZ-6 to the vendor extensions of the contract: those
// that name a thread, and a run of it at most, for the threads of both users.
func TestEveryExtensionOfAThreadIsTried(t *testing.T) {
	oracle, err := spec.New()
	require.NoError(t, err)
	var want []string
	placeholder := regexp.MustCompile(`\{\w+\}`)
	for _, op := range oracle.Operations(spec.AgentServer) {
		named := placeholder.FindAllString(op.Path, -1)
		if op.Field && slices.Contains(named, "{thread_id}") && !slices.ContainsFunc(named, func(n string) bool { return n != "{thread_id}" && n != "{run_id}" }) {
			want = append(want, op.ID, op.ID)
		}
	}
	catalogue, err := features.Load()
	require.NoError(t, err)
	var have []string
	for _, s := range catalogue.Find("AS-AUTHZ-6").Scenarios {
		for _, step := range s.Steps {
			if _, id, is := strings.Cut(step.Text, "try the vendor extension "); is {
				have = append(have, id)
			}
		}
	}
	assert.ElementsMatch(t, want, have)
}
