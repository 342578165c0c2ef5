package plane

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/spec"
)

// The statuses of a revision that decide something (section 3).
const (
	StatusDeployed    = "DEPLOYED"
	statusSkipped     = "SKIPPED"
	statusInterrupted = "INTERRUPTED"
	statusUnknown     = "UNKNOWN"
)

// IsKnown tells whether a status is one of the interface.
func IsKnown(status string) bool { return slices.Contains(spec.RevisionStatuses(), status) }

// Meant returns the status of the interface that a status of the target is, whatever its case and separators:
// "deployed", "Awaiting build". One that is none of these in any way of writing is returned as it is. That a status is
// not written as the interface has it is for CP-POLL-1 to judge; what depends on the status is judged all the same.
func Meant(status string) string {
	for _, known := range spec.RevisionStatuses() {
		if letters(known) == letters(status) {
			return known
		}
	}
	return status
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// letters is a status without its case and separators.
func letters(status string) string { return strings.ToUpper(separators.Replace(status)) }

// IsDeployed tells whether a status is DEPLOYED in some way of writing.
func IsDeployed(status string) bool { return letters(status) == StatusDeployed }

// IsFailed tells whether a status says that a revision has failed for good.
func IsFailed(status string) bool { return slices.Contains(spec.FailedStatuses(), status) }

// IsDone tells whether a revision is DEPLOYED or has failed for good.
func IsDone(status string) bool { return status == StatusDeployed || IsFailed(status) }

// IsSettled tells whether a revision does not change by itself any more.
func IsSettled(status string) bool {
	return status == statusSkipped || status == statusInterrupted || IsDone(status)
}
