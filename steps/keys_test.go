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

// TestMissingKeySkipsTaggedScenarios deletes each key of a configuration in turn. The scenarios whose tags name it are
// skipped, and all others pass.
func TestMissingKeySkipsTaggedScenarios(t *testing.T) {
	catalogue, _, err := steps.Requirements()
	require.NoError(t, err)
	var keys []string
	for _, s := range catalogue.Scenarios() {
		for _, key := range slices.Concat(s.Terms.Needs...) {
			if isDeletable(key) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	for _, edition := range []string{config.Cloud, config.SelfHosted} {
		for _, key := range keys {
			t.Run(edition+"/"+key, func(t *testing.T) {
				runInBubble(t, func(t world) {
					s := startIndependent(t, independent.Options{Edition: edition})
					c := configure(t, s)
					if !c.Has(key) {
						t.SkipNow()
					}
					clearKey(reflect.ValueOf(c).Elem(), strings.Split(key, "."))
					require.False(t, c.Has(key))
					require.NoError(t, c.Complete())
					skips := plannedSkips(c, catalogue)
					res := judge(t, c, nil)
					for _, q := range res.Requirements {
						for _, scenario := range q.Scenarios {
							about := q.ID + " " + scenario.Name + ": " + scenario.Reason
							reason, isPlanned := skips[fmt.Sprintf("%s:%d", scenario.URI, scenario.Line)]
							switch {
							case isPlanned:
								assert.Equal(t, reason, scenario.Reason, about)
							case scenario.Verdict == reports.Skipped:
								isFoundLater := q.ID == "CP-LIST-7" || q.ID == "CP-LIST-10" // all revisions have the same status
								assert.True(t, isFoundLater || scenario.Skip.Kind == reports.NotApplicable, about)
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

// isDeletable reports whether all other scenarios pass without the key. Without users or their token the agent server
// refuses all requests.
func isDeletable(key string) bool {
	isUser := key == "users" || key == "users.0.token"
	return !isUser && !strings.Contains(key, "=") && !strings.HasPrefix(key, "create.body")
}

// clearKey deletes the value of a key.
func clearKey(v reflect.Value, names []string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("yaml") == names[0] {
				if len(names) == 1 {
					v.Field(i).SetZero()
				} else {
					clearKey(v.Field(i), names[1:])
				}
			}
		}
	case reflect.Slice:
		at := int(names[0][0] - '0')
		if len(names) == 1 {
			v.Set(v.Slice(0, at))
		} else {
			clearKey(v.Index(at), names[1:])
		}
	}
}

// plannedSkips returns the reasons of the skips that are known before the test run, by the file and line of the scenario.
func plannedSkips(c *config.Config, catalogue *features.Catalogue) map[string]string {
	forecast, all := suite.NewForecast(c, suite.Selection{}), map[string]string{}
	for _, s := range catalogue.Scenarios() {
		if lacking := forecast.Lacking(s); len(lacking) > 0 {
			all[s.Key()] = lacking[0].Reason
		}
	}
	return all
}
