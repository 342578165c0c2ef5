//go:build nightly

package main

import "testing"

// TestNamesOfSecretsAreTextInEachSpelling takes more requirements, and each spelling in which a shell takes a variable.
func TestNamesOfSecretsAreTextInEachSpelling(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"$" + keyVariable, "${" + keyVariable + "}", "$_" + keyVariable} {
		t.Run(name, func(t *testing.T) {
			assertTheNameIsText(t, name, "CP-GET-*,CP-UPDATE-1,CP-POLL-1,CP-LIST-13,AS-THREAD-*,AS-RUN-*,AS-AUTH-5,AS-CONTRACT-*,AS-STATE-1")
		})
	}
}
