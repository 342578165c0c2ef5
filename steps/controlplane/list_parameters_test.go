package controlplane

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/spec"
)

func TestPart(t *testing.T) {
	ids := make([]string, 25)
	for i := range ids {
		ids[i] = string(rune('a' + i))
	}
	for _, c := range []struct {
		limit, offset int
		want          []string
	}{
		{absent, absent, ids[:20]},
		{absent, 20, ids[20:]},
		{1, 0, ids[:1]},
		{2, 1, ids[1:3]},
		{100, absent, ids},
		{2, 24, ids[24:]},
		{2, 25, []string{}},
		{2, 26, []string{}},
	} {
		assert.Equal(t, c.want, part(ids, c.limit, c.offset), "limit %d, offset %d", c.limit, c.offset)
	}
}

func TestPartOffsets(t *testing.T) {
	assert.Equal(t, []int{absent, 0, 1, 20, 24, 25}, partOffsets(25))
	assert.Equal(t, []int{absent, 0, 1, 20}, partOffsets(1))
	assert.Equal(t, []int{absent, 0, 1, 20}, partOffsets(0))
}

// TestOtherParameters checks that all valid values of each parameter are sent, except those of the two given parameters.
func TestOtherParameters(t *testing.T) {
	var sent []string
	for turn := range 2 {
		valid := otherParameters("limit", "offset", turn)
		assert.Len(t, valid, len(parameters)-2)
		sent = append(sent, valid...)
	}
	for _, p := range parameters {
		for _, query := range p.valid {
			isOther := p.name != "limit" && p.name != "offset"
			assert.Equal(t, isOther, slices.Contains(sent, query), query)
		}
	}
}

// TestParametersAreTheContracts checks that each query parameter of the list is combined with the others.
func TestParametersAreTheContracts(t *testing.T) {
	oracle, err := spec.New()
	require.NoError(t, err)
	var want, got []string
	for _, op := range oracle.Operations(spec.ControlPlane) {
		for _, p := range op.Parameters {
			if op.ID == "list-revisions" && p.In == "query" {
				want = append(want, p.Name)
			}
		}
	}
	for _, p := range parameters {
		got = append(got, p.name)
	}
	assert.ElementsMatch(t, want, got)
}

func TestClassOfCredentials(t *testing.T) {
	for credentials, want := range map[string]string{
		"no credentials":                          "",
		"an unknown API key":                      "unknown",
		"an API key that is unknown":              "unknown",
		"a bearer token that is empty":            "empty",
		"a tenant ID that is whitespace":          "empty",
		"an API key that is in another case":      "near miss",
		"the token of a user of the agent server": "user token",
	} {
		assert.Equal(t, want, classOfCredentials(credentials), credentials)
	}
}
