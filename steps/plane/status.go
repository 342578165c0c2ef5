package plane

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/spec"
)

// The statuses of a revision with a special meaning for the suite (section 3).
const (
	StatusDeployed    = "DEPLOYED"
	statusSkipped     = "SKIPPED"
	statusInterrupted = "INTERRUPTED"
	statusUnknown     = "UNKNOWN"
)

// CanonicalStatus returns the status of the interface that differs from the given one only in case and separators, such
// as DEPLOYED for "deployed" and AWAITING_BUILD for "Awaiting build". It returns any other status unchanged. CP-POLL-1
// judges the spelling; all other checks use the canonical status.
func CanonicalStatus(status string) string {
	for _, known := range spec.RevisionStatuses() {
		if letters(known) == letters(status) {
			return known
		}
	}
	return status
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// letters returns a status in upper case and without separators.
func letters(status string) string { return strings.ToUpper(separators.Replace(status)) }

// IsKnown reports whether a status is one of the interface, spelled as the interface does.
func IsKnown(status string) bool { return slices.Contains(spec.RevisionStatuses(), status) }

// isForeign reports whether a status is not one of the interface in any spelling.
func isForeign(status string) bool { return !IsKnown(CanonicalStatus(status)) }

// IsDeployed reports whether a status is DEPLOYED in any spelling.
func IsDeployed(status string) bool { return letters(status) == StatusDeployed }

// IsFailed reports whether a canonical status means that the revision has failed for good.
func IsFailed(status string) bool { return slices.Contains(spec.FailedStatuses(), status) }

// IsDone reports whether a canonical status is DEPLOYED or means that the revision has failed for good.
func IsDone(status string) bool { return status == StatusDeployed || IsFailed(status) }

// IsSettled reports whether a canonical status does not change without a request.
func IsSettled(status string) bool {
	return status == statusSkipped || status == statusInterrupted || IsDone(status)
}

// IsWaiting reports whether the build of a revision with this canonical status has not begun.
func IsWaiting(status string) bool {
	return slices.Contains([]string{"CREATING", "QUEUED", "AWAITING_BUILD"}, status)
}
