//go:build nightly

package store

import "testing"

func TestNoFaultOfAnyOperationLosesWhatWasAcknowledged(t *testing.T) { assertNothingIsLost(t, 1) }
