package faults

import "slices"

func controlPlane() []Fault {
	return slices.Concat(
		written(),
		credentials(), tenants(),
		creation(), revision(), lifecycle(),
		newRevisions(), keptAsIs(), tagRule(), filters(), planeInvariants(),
	)
}
