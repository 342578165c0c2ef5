//go:build nightly

package steps_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
)

// TestTagsSayWhatAKeyEnables leaves each key out in turn. What its tags name is skipped for it, nothing else is, and all else is judged
// as before.
func TestTagsSayWhatAKeyEnables(t *testing.T) {
	catalogue, _, err := steps.Requirements()
	require.NoError(t, err)
	var keys []string
	for _, s := range catalogue.Scenarios() {
		for _, key := range slices.Concat(s.Terms.Needs...) {
			// Without users the server refuses everyone, and all about it is blocked; a user without a token is refused.
			if !slices.Contains([]string{"users", "users.0.token"}, key) && !strings.Contains(key, "=") && !strings.HasPrefix(key, "create.body") && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	for _, edition := range []string{config.Cloud, config.SelfHosted} {
		for _, key := range keys {
			t.Run(edition+"/"+key, func(t *testing.T) {
				inBubble(t, func(t world) {
					s := startIndependent(t, independent.Options{Edition: edition})
					c := configure(t, s)
					if !c.Has(key) {
						t.SkipNow()
					}
					leaveOut(reflect.ValueOf(c).Elem(), strings.Split(key, "."))
					require.False(t, c.Has(key))
					require.NoError(t, c.Complete())
					foreseen := foreseen(c, catalogue)
					res := judge(t, c, nil)
					for _, q := range res.Requirements {
						for _, scenario := range q.Scenarios {
							about := q.ID + " " + scenario.Name + ": " + scenario.Reason
							reason, skips := foreseen[fmt.Sprintf("%s:%d", scenario.URI, scenario.Line)]
							switch {
							case skips:
								assert.Equal(t, reason, scenario.Reason, about)
							case scenario.Verdict == reports.Skipped:
								foundByRun := q.ID == "CP-LIST-7" || q.ID == "CP-LIST-10" // where all revisions have one status
								assert.True(t, foundByRun || scenario.Skip.Kind == reports.NotApplicable, about)
							default:
								assert.Equal(t, reports.Passed, scenario.Verdict, about)
							}
						}
					}
				})
			})
		}
	}
}

// leaveOut empties what stands under a key.
func leaveOut(v reflect.Value, names []string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("yaml") == names[0] {
				if len(names) == 1 {
					v.Field(i).SetZero()
				} else {
					leaveOut(v.Field(i), names[1:])
				}
			}
		}
	case reflect.Slice:
		at := int(names[0][0] - '0')
		if len(names) == 1 {
			v.Set(v.Slice(0, at))
		} else {
			leaveOut(v.Index(at), names[1:])
		}
	}
}

// foreseen returns why each scenario would be skipped, by its place, as far as the configuration tells before a run.
func foreseen(c *config.Config, catalogue *features.Catalogue) map[string]string {
	forecast, all := suite.Foresee(c, suite.Selection{}), map[string]string{}
	for _, s := range catalogue.Scenarios() {
		if lacking := forecast.Lacking(s); len(lacking) > 0 {
			all[s.Key()] = lacking[0].Reason
		}
	}
	return all
}
