package faults

import "slices"

func controlPlane() []Fault {
	return slices.Concat(
		credentials(), creation(), revision(), lifecycle(),
		newRevisions(), keptAsIs(), filters(), planeInvariants(),
	)
}
