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

// Statuses are those of a revision, from the contract (section 3).
type Statuses struct{ known, failed []string }

func statusesOfContract() Statuses { return Statuses{spec.RevisionStatuses(), spec.FailedStatuses()} }

// Known lists all statuses of the interface.
func (s Statuses) Known() []string { return s.known }

// IsKnown tells whether a status is one of the interface.
func (s Statuses) IsKnown(status string) bool { return slices.Contains(s.known, status) }

// Meant returns the status of the interface that a status of the target is, whatever its case and separators: "deployed",
// "Awaiting build". One that is none of these in any way of writing is returned as it is. That a status is not written as
// the interface has it is for CP-POLL-1 to judge; what depends on the status is judged all the same.
func (s Statuses) Meant(status string) string {
	for _, known := range s.known {
		if letters(known) == letters(status) {
			return known
		}
	}
	return status
}

// letters is a status without its case and separators.
func letters(status string) string {
	return strings.ToUpper(strings.NewReplacer("_", "", "-", "", " ", "").Replace(status))
}

// isDeployed tells whether a status is DEPLOYED in some way of writing.
func isDeployed(status string) bool { return letters(status) == StatusDeployed }

// IsFailed tells whether a status says that a revision has failed for good.
func (s Statuses) IsFailed(status string) bool { return slices.Contains(s.failed, status) }

// Done tells whether a revision is DEPLOYED or has failed for good.
func (s Statuses) Done(status string) bool { return status == StatusDeployed || s.IsFailed(status) }

// settled tells whether a revision does not change by itself any more.
func (s Statuses) settled(status string) bool {
	return status == statusSkipped || status == statusInterrupted || s.Done(status)
}
