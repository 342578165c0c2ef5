package suite

import (
	"cmp"
	"slices"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
)

// Missing returns, for each missing key, the requirements that the next test run judges in addition if only that key is
// set. The keys with the most requirements come first. Keys that would add nothing, because other keys are missing too,
// come last. The reports, doctor and the lines after a test run without a configuration all show this.
func (f *Forecast) Missing(scenarios []*features.Scenario) []*Gap {
	gaps, _ := f.Gaps(scenarios)
	var all []*Gap
	for _, g := range gaps {
		if g.Skip.Kind == reports.NotConfigured && !slices.ContainsFunc(all, func(known *Gap) bool { return known.Skip == g.Skip }) {
			all = append(all, f.added(g, scenarios))
		}
	}
	slices.SortStableFunc(all, func(a, b *Gap) int {
		return cmp.Or(len(b.Whole)-len(a.Whole), len(b.part)-len(a.part))
	})
	return all
}

// added returns the additional requirements if only the key of the gap were set.
func (f *Forecast) added(g *Gap, scenarios []*features.Scenario) *Gap {
	with := f.with(g.Skip.Key, scenarios)
	closed := &Gap{Skip: g.Skip, Reason: g.Reason}
	for _, group := range byRequirement(scenarios) {
		before, after := 0, 0
		for _, s := range group {
			if len(f.Lacking(s)) == 0 {
				before++
			}
			if len(with.Lacking(s)) == 0 {
				after++
			}
		}
		switch {
		case before == 0 && after > 0:
			closed.Whole = append(closed.Whole, group[0].Requirement)
		case after > before:
			closed.part = append(closed.part, group[0].Requirement)
		}
	}
	return closed
}

// with returns the forecast of the same test run with a value for a missing key.
func (f *Forecast) with(key string, scenarios []*features.Scenario) *Forecast {
	c := f.config.WithExample(key)
	g := NewForecast(c, f.selection)
	g.repeat = f.repeat
	g.existing = f.existing.With(c)
	g.refuses = f.refuses && len(c.Users) == 0
	g.Spend(scenarios)
	return g
}

// missingKeys returns the missing keys with the number of requirements that each adds. If only the test run has found a
// key to be missing, these are the requirements that it has skipped because of the key.
func (r *run) missingKeys(res *reports.Result) []reports.MissingKey {
	var all []reports.MissingKey
	known := map[string]bool{}
	for _, g := range r.forecast.Missing(r.selected) {
		known[g.Skip.Key] = true
		if len(g.Whole) > 0 {
			all = append(all, reports.MissingKey{Key: g.Skip.Key, Adds: len(g.Whole)})
		}
	}
	for _, n := range res.NotJudged {
		if n.Kind != reports.NotConfigured || n.Key == "" || known[n.Key] {
			continue
		}
		at := slices.IndexFunc(all, func(m reports.MissingKey) bool { return m.Key == n.Key })
		if at < 0 {
			at = len(all)
			all = append(all, reports.MissingKey{Key: n.Key})
		}
		all[at].Adds++
	}
	slices.SortStableFunc(all, func(a, b reports.MissingKey) int { return b.Adds - a.Adds })
	return all
}
