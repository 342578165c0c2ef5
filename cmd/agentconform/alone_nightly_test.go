//go:build nightly

package main

import "testing"

// TestMoreFaultsThatAKeyAloneShows takes the other faults of which none needs a deployment of the suite's own.
func TestMoreFaultsThatAKeyAloneShows(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"limit-101-is-served", "revision-is-open", "deployment-is-open", "missing-key-is-422", "any-key-lists", "empty-key-is-accepted",
		"longer-key-is-accepted", "not-found-names-nothing", "status-without-match-keeps-all", "remote-reconciled-is-lenient", "not-found-is-a-text"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertAKeyAloneShows(t, name)
		})
	}
}
