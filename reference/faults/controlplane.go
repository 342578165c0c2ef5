package faults

import "slices"

func controlPlane() []Fault {
	return slices.Concat(
		credentials(), tenants(),
		creation(), refusedCreation(),
		retrieval(), revision(), lifecycle(),
		newRevisions(), keptAsIs(), tagRule(), refusedUpdate(),
		limits(), offsets(), pages(), filters(), combined(), listing(),
		errorBodies(), contract(), planeInvariants(),
	)
}
