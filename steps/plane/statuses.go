package plane

import (
	"slices"

	"github.com/agentconform/agentconform/spec"
)

// Statuses are those of a revision, from the contract (section 3).
type Statuses struct{ known, failed []string }

func statusesOfContract() Statuses { return Statuses{spec.RevisionStatuses(), spec.FailedStatuses()} }

// Known lists all statuses of the interface.
func (s Statuses) Known() []string { return s.known }

// IsKnown tells whether a status is one of the interface.
func (s Statuses) IsKnown(status string) bool { return slices.Contains(s.known, status) }

// IsFailed tells whether a status says that a revision has failed for good.
func (s Statuses) IsFailed(status string) bool { return slices.Contains(s.failed, status) }

// Done tells whether a revision is DEPLOYED or has failed for good.
func (s Statuses) Done(status string) bool { return status == StatusDeployed || s.IsFailed(status) }

// settled tells whether a revision does not change by itself any more.
func (s Statuses) settled(status string) bool {
	return status == statusSkipped || status == statusInterrupted || s.Done(status)
}
