package explore

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/agentconform/agentconform/features"
)

func TestASequenceIsReadAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Operation {
			o := Operation{Verb: rapid.SampledFrom(vocabulary).Draw(t, "verb"), Caller: rapid.IntRange(first, theClient).Draw(t, "caller")}
			if objectName.MatchString(o.Verb) {
				o.Object = rapid.IntRange(0, 25).Draw(t, "object")
			}
			if numberName.MatchString(o.Verb) {
				o.Number = rapid.IntRange(1, 9999).Draw(t, "number")
			}
			switch o.Verb {
			case update:
				o.With = rapid.SampledFrom([]string{"nothing", "repo_ref broken and graph_config_path null", push}).Draw(t, "update")
			case listRevisions:
				o.With = rapid.SampledFrom([]string{"", "status DEPLOYED,SKIPPED and limit 3 and offset 1"}).Draw(t, "list")
			}
			o.Meanwhile = rapid.Bool().Draw(t, "meanwhile")
			return o
		}), 1, 6).Draw(t, "operations")
		all[0].Meanwhile = false
		var text strings.Builder
		for i, o := range all {
			text.WriteString([]string{"When ", "    And ", "* ", ""}[i%4] + o.String() + "\r\n")
		}
		read, err := Parse(text.String())
		require.NoError(t, err)
		assert.Equal(t, all, read)
	})
}

func TestEachHalfIsSentItsOperations(t *testing.T) {
	all, err := Parse("the client creates deployment A\nthe first user creates thread A\nmeanwhile the client retrieves deployment A\n" +
		"meanwhile the client lists the revisions of deployment A\nmeanwhile the second user creates thread B")
	require.NoError(t, err)
	var told []string
	for _, profile := range []string{features.ControlPlane, features.AgentServer} {
		for _, o := range Of(profile, all) {
			told = append(told, o.String())
		}
	}
	assert.Equal(t, []string{"the client creates deployment A", "the client retrieves deployment A",
		"meanwhile the client lists the revisions of deployment A", "the first user creates thread A",
		"meanwhile the second user creates thread B"}, told, "meanwhile is beside what it was beside")
}

func TestWhatIsNoOperationIsRefused(t *testing.T) {
	for _, c := range []struct{ text, problem string }{
		{"", "no operation"},
		{"# a comment\nScenario: of nothing", "no operation"},
		{"When the third user creates thread A", "line 1: \"When the third user creates thread A\" does not begin with a caller"},
		{"\nthe first user deletes thread A", "line 2: no operation is called \"deletes thread A\"; there are: creates thread T"},
		{"the first user creates thread AB", "no operation"},
		{"the first user joins run 12345 under thread A", "no operation"},
		{"the client updates deployment A", "no operation"},
		{"the client updates deployment A with repo_ref main", "no operation"},
		{"the client lists the revisions of deployment A with status DEPLOYED&limit=1", "no operation"},
	} {
		_, err := Parse(c.text)
		assert.ErrorContains(t, err, c.problem, c.text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("When the first user creates thread A\nAnd meanwhile the second user joins run 3 under thread B")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Parse(text)
		for _, o := range all {
			if err == nil && !slices.Contains(vocabulary, o.Verb) {
				t.Errorf("%v is not of the vocabulary", o)
			}
		}
	})
}
