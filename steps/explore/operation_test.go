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

func TestParseReadsWhatStringWrites(t *testing.T) {
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

func TestOf(t *testing.T) {
	all, err := Parse("the client creates deployment A\nthe first user creates thread A\nmeanwhile the client retrieves deployment A\n" +
		"meanwhile the client lists the revisions of deployment A\nmeanwhile the second user creates thread B")
	require.NoError(t, err)
	var sent []string
	for _, profile := range []string{features.ControlPlane, features.AgentServer} {
		for _, o := range Of(profile, all) {
			sent = append(sent, o.String())
		}
	}
	assert.Equal(t, []string{"the client creates deployment A", "the client retrieves deployment A",
		"meanwhile the client lists the revisions of deployment A", "the first user creates thread A",
		"meanwhile the second user creates thread B"}, sent)
}

func TestParseRefusesOtherText(t *testing.T) {
	for text, line := range map[string]string{
		"":                                                   "",
		"# a comment\nScenario: of nothing":                  "",
		"When the third user creates thread A":               "line 1:",
		"\nthe first user deletes thread A":                  "line 2:",
		"the first user creates thread AB":                   "line 1:",
		"the first user joins run 12345 under thread A":      "line 1:",
		"the client updates deployment A":                    "line 1:",
		"the client updates deployment A with repo_ref main": "line 1:",
		"the client lists the revisions of deployment A with status DEPLOYED&limit=1": "line 1:",
	} {
		_, err := Parse(text)
		assert.ErrorContains(t, err, line, text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("When the first user creates thread A\nAnd meanwhile the second user joins run 3 under thread B")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Parse(text)
		for _, o := range all {
			if err == nil && !slices.Contains(vocabulary, o.Verb) {
				t.Errorf("%v is not in the vocabulary", o)
			}
		}
	})
}
